import { readFileSync } from 'node:fs';
import { defineConfig } from 'vite';

// The licence of what is bundled stays with it.
const licence = readFileSync('node_modules/uplot/LICENSE', 'utf8').trim();
const version = JSON.parse(readFileSync('node_modules/uplot/package.json', 'utf8')).version;

/** Puts the licence first, after everything that would drop a comment. */
const withLicence = {
  name: 'with-licence',
  enforce: 'post',
  generateBundle(_options, bundle) {
    for (const part of Object.values(bundle)) {
      if (part.type !== 'chunk') continue;
      const code = part.code.replace(/\/\*! https[^*]*\*\//g, '').replaceAll('</script', '<\\/script');
      part.code = `/*! Contains uPlot ${version}.\n\n${licence}\n*/\n${code}`;
    }
  },
};

export default defineConfig({
  build: {
    target: 'es2022',
    modulePreload: false,
    lib: { entry: 'src/main.ts', formats: ['iife'], name: 'deem', fileName: () => 'report.js', cssFileName: 'report' },
  },
  plugins: [withLicence],
});
