import { cpus, totalmem } from 'node:os'
import { benchAnswers } from './answers.ts'
import { benchBacktest } from './backtest.ts'
import type { Budget } from './budget.ts'
import { lineOf } from './budget.ts'
import { benchCollector } from './collector.ts'
import { benchDecode } from './decode.ts'
import { benchEvaluate } from './evaluate.ts'
import { benchFaults } from './faults.ts'
import { benchIngest } from './ingest.ts'
import { benchJudge } from './judge.ts'
import { benchNab } from './nab.ts'
import { benchNeighbours } from './neighbours.ts'
import { benchPages } from './pages.ts'
import { benchQuery } from './query.ts'
import { benchQuestions } from './questions.ts'
import { benchRuns } from './runs.ts'
import { benchScale } from './scale.ts'
import { benchSignIn } from './sign-in.ts'
import { benchSilence } from './silence.ts'
import { benchTelling } from './telling.ts'

/** `npm run bench [-- NAME…]`: figures of the executable as ratios within this run, beside their budgets. */
const benches: Record<string, () => Promise<Budget[]>> = {
  ingest: benchIngest,
  judge: benchJudge,
  query: benchQuery,
  answers: benchAnswers,
  questions: benchQuestions,
  scale: benchScale,
  telling: benchTelling,
  neighbours: benchNeighbours,
  runs: benchRuns,
  pages: benchPages,
  decode: benchDecode,
  evaluate: benchEvaluate,
  backtest: benchBacktest,
  'sign-in': benchSignIn,
  collector: benchCollector,
  nab: benchNab,
  faults: benchFaults,
  silence: benchSilence,
}

const wanted = process.argv.slice(2)
const [cpu] = cpus()
console.log(
  `${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Bun ${Bun.version}`,
)
// Rebuilt, so that the current sources are measured.
await import('../build.ts')
let missed = 0
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  console.log(`\n## ${name}\n`)
  const budgets = await bench()
  console.log(['', '| figure | measured | budget | |', '|---|---|---|---|', ...budgets.map(lineOf)].join('\n'))
  missed += budgets.filter(({ kept }) => !kept).length
}
process.exitCode = missed > 0 ? 1 : 0
