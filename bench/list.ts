import { benchAnswers } from './answers.ts'
import { benchBacktest } from './backtest.ts'
import type { Budget } from './budget.ts'
import { benchCollector } from './collector.ts'
import { benchCurve } from './curve.ts'
import { benchDecode } from './decode.ts'
import { benchEvaluate } from './evaluate.ts'
import { benchFaults } from './faults.ts'
import { benchFiles } from './files.ts'
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

/** All benches by name. Each measures, and returns its figures beside their limits. */
export const benches: Record<string, () => Promise<Budget[]>> = {
  ingest: benchIngest,
  judge: benchJudge,
  query: benchQuery,
  files: benchFiles,
  answers: benchAnswers,
  questions: benchQuestions,
  scale: benchScale,
  curve: benchCurve,
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
