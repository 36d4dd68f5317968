import { benchCollector } from './browser/collector.ts'
import { benchPages } from './browser/pages.ts'
import { benchRuns } from './browser/runs.ts'
import { benchDecode } from './collector/decode.ts'
import { benchIngest } from './collector/ingest.ts'
import { benchJudge } from './collector/judge.ts'
import { benchScan } from './collector/scan.ts'
import { benchChangesAtRest } from './detector/changes-at-rest.ts'
import { benchFaults } from './detector/faults.ts'
import { benchNab } from './detector/nab.ts'
import { benchSilence } from './detector/silence.ts'
import { benchEvaluate } from './evaluation/evaluate.ts'
import { benchNotificationDelay } from './evaluation/notification-delay.ts'
import { benchLargeBodies } from './organizations/large-bodies.ts'
import { benchNeighbours } from './organizations/neighbours.ts'
import { benchScale } from './organizations/scale.ts'
import { benchSignIn } from './organizations/sign-in.ts'
import { benchSoak } from './soak/soak.ts'
import type { Budget } from './tools/budget.ts'
import { benchApiLatency } from './warehouse/api-latency.ts'
import { benchBacktest } from './warehouse/backtest.ts'
import { benchConcurrentQueries } from './warehouse/concurrent-queries.ts'
import { benchFileLayouts } from './warehouse/file-layouts.ts'
import { benchQuery } from './warehouse/query.ts'
import { benchSampledAnswers } from './warehouse/sampled-answers.ts'
import { benchScaleOut } from './warehouse/scale-out.ts'
import { benchScalingCurve } from './warehouse/scaling-curve.ts'

/** All benchmarks by name. Each returns its measured figures with their limits. */
export const benches: Record<string, () => Promise<Budget[]>> = {
  ingest: benchIngest,
  judge: benchJudge,
  scan: benchScan,
  query: benchQuery,
  files: benchFileLayouts,
  answers: benchApiLatency,
  sampled: benchSampledAnswers,
  'scale-out': benchScaleOut,
  questions: benchConcurrentQueries,
  scale: benchScale,
  curve: benchScalingCurve,
  telling: benchNotificationDelay,
  neighbours: benchNeighbours,
  runs: benchRuns,
  pages: benchPages,
  decode: benchDecode,
  evaluate: benchEvaluate,
  backtest: benchBacktest,
  'sign-in': benchSignIn,
  bodies: benchLargeBodies,
  collector: benchCollector,
  nab: benchNab,
  faults: benchFaults,
  silence: benchSilence,
  changes: benchChangesAtRest,
  soak: benchSoak,
}
