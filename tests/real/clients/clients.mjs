// Asks a scripted decision endpoint by the real clients: clients.mjs ADDRESS
import assert from "node:assert/strict";
import { OpenRouter } from "@openrouter/sdk";
import { choice, noul, score, TypeSafeClient } from "@typesafe-ai/sdk";

const address = process.argv[2];
const state = "I was charged twice for my order last week and nobody has replied.";
const teams = { billing: "payments and refunds", shipping: "parcels", technical: "faults" };
const levels = ["can wait", "this week", "today"];

function judge(client, answers) {
  assert.deepEqual(Object.keys(answers).sort(), ["angry", "team", "urgency"], client);
  assert.deepEqual(Object.keys(answers.team.probabilities).sort(), Object.keys(teams).sort(), client);
  const sum = Object.values(answers.team.probabilities).reduce((a, b) => a + b, 0);
  assert.ok(Math.abs(sum - 1) < 1e-6, `${client}: probabilities sum to ${sum}`);
  const best = Object.entries(answers.team.probabilities).sort((a, b) => b[1] - a[1])[0][0];
  assert.equal(answers.team.choice, best, client);
  assert.ok(answers.angry.noul >= 0 && answers.angry.noul <= 1, client);
  assert.ok(answers.urgency.score >= 0 && answers.urgency.score <= levels.length - 1, client);
  console.log(`  ${client}: ${answers.team.choice}, ${answers.angry.noul.toFixed(3)}, ${answers.urgency.score.toFixed(3)}`);
}

const typesafe = new TypeSafeClient({ baseURL: address, apiKey: "made-up" });
const first = await typesafe.systemOne({
  model: "scripted-1",
  state,
  questions: {
    team: choice("Which team should handle this?", teams),
    angry: noul("The customer is angry."),
    urgency: score("How urgent is this?", levels),
  },
});
judge("@typesafe-ai/sdk", first.answers);
await assert.rejects(
  typesafe.systemOne({ model: "another", state, questions: { angry: noul("The customer is angry.") } }),
  (error) => error.status === 404 || /404|no such model/.test(String(error)),
);

const openrouter = new OpenRouter({ apiKey: "made-up" });
const second = await openrouter.alpha.decisions.create(
  {
  decisionsRequest: {
    model: "scripted-1",
    state,
    questions: {
      team: { type: "choice", instructions: "Which team should handle this?", criteria: teams },
      angry: { type: "noul", instructions: "The customer is angry." },
      urgency: { type: "score", instructions: "How urgent is this?", criteria: levels },
    },
  },
  },
  { serverURL: address },
);
judge("@openrouter/sdk", second.answers);
