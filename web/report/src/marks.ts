// The looks of a column: the same colours, dashes and markers as the still plots have.

export const kColours = 8;
const kDashes: number[][] = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
const kMarkers = 6;

export function colourOf(style: number): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--c${style % kColours}`).trim();
}

export function dashOf(style: number): number[] {
  return kDashes[Math.floor(style / kColours) % kDashes.length] ?? [];
}

/** The outline of a marker around (0, 0), in radii. Circle: none. */
function outlineOf(style: number): [number, number][] {
  switch (style % kMarkers) {
    case 1:
      return [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]];
    case 2:
      return [[0, -1.2], [1.1, 0.8], [-1.1, 0.8]];
    case 3:
      return [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]];
    case 4:
      return [[0, 1.2], [1.1, -0.8], [-1.1, -0.8]];
    case 5:
      return [[-0.4, -1.1], [0.4, -1.1], [0.4, -0.4], [1.1, -0.4], [1.1, 0.4], [0.4, 0.4], [0.4, 1.1],
        [-0.4, 1.1], [-0.4, 0.4], [-1.1, 0.4], [-1.1, -0.4], [-0.4, -0.4]];
    default:
      return [];
  }
}

export function drawMarker(ctx: CanvasRenderingContext2D, x: number, y: number, radius: number,
  style: number, hollow: boolean, ground: string): void {
  ctx.beginPath();
  const outline = outlineOf(style);
  if (outline.length === 0) ctx.arc(x, y, radius, 0, 2 * Math.PI);
  outline.forEach(([dx, dy], i) => {
    if (i === 0) ctx.moveTo(x + dx * radius, y + dy * radius);
    else ctx.lineTo(x + dx * radius, y + dy * radius);
  });
  ctx.closePath();
  ctx.fillStyle = hollow ? ground : colourOf(style);
  ctx.strokeStyle = hollow ? colourOf(style) : ground;
  ctx.fill();
  ctx.stroke();
}

/** A line and a marker for a legend. */
export function swatch(style: number): SVGSVGElement {
  const kSvg = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(kSvg, 'svg');
  svg.setAttribute('viewBox', '0 0 28 12');
  svg.setAttribute('class', 'swatch');
  svg.setAttribute('aria-hidden', 'true');
  const line = document.createElementNS(kSvg, 'path');
  line.setAttribute('d', 'M1 6H27');
  line.setAttribute('class', `line c${style % kColours} d${Math.floor(style / kColours) % kDashes.length}`);
  const outline = outlineOf(style);
  const mark = document.createElementNS(kSvg, outline.length === 0 ? 'circle' : 'polygon');
  if (outline.length === 0) {
    mark.setAttribute('cx', '14');
    mark.setAttribute('cy', '6');
    mark.setAttribute('r', '4');
  } else {
    mark.setAttribute('points', outline.map(([x, y]) => `${14 + x * 4},${6 + y * 4}`).join(' '));
  }
  mark.setAttribute('class', `mark c${style % kColours}`);
  svg.append(line, mark);
  return svg;
}
