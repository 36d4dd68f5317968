import { Closed, InstantSchema, Int, Nullable, OneOf, type Static, Type } from '../core/schema.ts'
import { RUN_FINDING_KINDS } from './run-result.ts'

export const RUN_STATUSES = ['queued', 'running', 'passed', 'failed', 'cancelled'] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

const TRIGGERS = ['api', 'manual', 'schedule', 'change'] as const
export type Trigger = (typeof TRIGGERS)[number]

const SummarySchema = Closed({
  stepsTotal: Int(),
  stepsPassed: Int({ description: 'Includes healed steps' }),
  healedSteps: Int(),
  vendorsFired: Int({ description: 'Number of vendors with at least one event' }),
  findings: Int(),
  pausedMs: Type.Optional(Int()),
})
export type RunSummary = Static<typeof SummarySchema>

const runFields = {
  id: Type.String(),
  testId: Type.String(),
  versionId: Type.String(),
  status: OneOf(RUN_STATUSES),
  trigger: OneOf(TRIGGERS),
  startedAt: Nullable(InstantSchema),
  finishedAt: Nullable(InstantSchema),
  durationMs: Nullable(Int()),
  pausedMs: Nullable(Int({ description: 'Time that the runner waited for tags' })),
  summary: SummarySchema,
  error: Nullable(Type.String({ description: 'Reason why the run ended early; null: all steps were executed' })),
  region: Type.String(),
  createdAt: InstantSchema,
}

const EXAMPLE = {
  id: 'run_01ke7k3h20x6b4n8r1t9v5c7zd',
  testId: 'tst_01ke7jm2q0d3k8f1z6y5b7n4ta',
  versionId: 'ver_01ke7jm2q0d3k8f1z6y5b7n4ta',
  status: 'failed',
  trigger: 'schedule',
  startedAt: 1_767_614_400_000,
  finishedAt: 1_767_614_409_300,
  durationMs: 9300,
  pausedMs: 5000,
  summary: { stepsTotal: 2, stepsPassed: 2, healedSteps: 1, vendorsFired: 1, findings: 1 },
  error: null,
  region: 'local',
  createdAt: 1_767_614_399_000,
}

/** Type of an object without its null fields. */
export type WithoutNulls<T> = { [K in keyof T as null extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as null extends T[K] ? K : never]?: NonNullable<T[K]>
}

export function withoutNulls<T extends object>(object: T): WithoutNulls<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null)) as WithoutNulls<T>
}

export const RunSchema = Closed(runFields, { $id: 'Run', examples: [EXAMPLE] })
export type Run = Static<typeof RunSchema>

const ShareSchema = Closed({
  id: Type.String(),
  runId: Type.String(),
  expiresAt: InstantSchema,
  revokedAt: Nullable(InstantSchema),
  createdAt: InstantSchema,
})
export type Share = Static<typeof ShareSchema>

const StepSchema = Closed({
  index: Int({ description: 'In `recording.steps`' }),
  type: Type.String(),
  title: Type.String({ description: 'Description of the step' }),
  status: OneOf(['passed', 'healed', 'failed', 'skipped']),
  startedAt: Nullable(InstantSchema),
  durationMs: Nullable(Int()),
  error: Nullable(Type.String()),
  healed: Nullable(Closed({ before: Type.String(), after: Type.String() })),
  screenshot: Type.Boolean({
    description:
      'True when there is a screenshot that the caller is permitted to view; requires the permission `seePersonal`',
  }),
})

const FindingSchema = Closed({
  kind: OneOf(RUN_FINDING_KINDS),
  step: Nullable(Int()),
  vendor: Nullable(Type.String()),
  event: Nullable(Type.String()),
  sentence: Type.String(),
  expected: Nullable(Type.String()),
  observed: Nullable(Type.String()),
})

const EventSchema = Closed({
  step: Int(),
  at: InstantSchema,
  vendor: Type.String(),
  event: Type.String(),
  account: Nullable(Type.String()),
  params: Type.Record(Type.String(), Type.String()),
  host: Nullable(Type.String({ description: 'Host of the page' })),
  path: Nullable(Type.String({ description: 'Path of the page' })),
  status: Nullable(Int({ description: 'Status of the response; null: no response' })),
  answered: Type.Boolean({
    description: 'True when the request did not leave the browser and was answered by Tagwarden',
  }),
})

export const RunDetailSchema = Closed(
  {
    ...runFields,
    attempts: Int({ description: 'Number of attempts; the results are those of the last one' }),
    steps: Type.Array(StepSchema),
    findings: Type.Array(FindingSchema),
    events: Type.Array(EventSchema, { description: 'In the order in which they were sent' }),
    errors: Type.Array(Type.String(), { description: 'Errors of the page' }),
    shares: Type.Array(ShareSchema),
  },
  {
    $id: 'RunDetail',
    examples: [
      {
        ...EXAMPLE,
        attempts: 2,
        steps: [
          {
            index: 1,
            type: 'click',
            title: 'Click “Add to basket”',
            status: 'healed',
            startedAt: 1_767_614_402_000,
            durationMs: 310,
            error: null,
            healed: { before: 'aria/Add to basket', after: '#add' },
            screenshot: true,
          },
        ],
        findings: [
          {
            kind: 'missing',
            step: 1,
            vendor: 'Google Analytics 4',
            event: 'add_to_cart',
            sentence: 'Google Analytics 4 add_to_cart did not fire',
            expected: 'at least 1',
            observed: '0',
          },
        ],
        events: [],
        errors: [],
        shares: [],
      },
    ],
  },
)

/** A run without its null fields. */
const ReportedRunSchema = Closed(
  {
    ...runFields,
    startedAt: Type.Optional(InstantSchema),
    finishedAt: Type.Optional(InstantSchema),
    durationMs: Type.Optional(Int()),
    pausedMs: Type.Optional(Int({ description: 'Time that the runner waited for tags' })),
    error: Type.Optional(
      Type.String({ description: 'Reason why the run ended early; omitted: all steps were executed' }),
    ),
  },
  { $id: 'ReportedRun' },
)

const ReportedShareSchema = Closed({ ...ShareSchema.properties, revokedAt: Type.Optional(InstantSchema) })

export const ReportListSchema = Closed(
  {
    reports: Type.Array(
      Closed({
        run: ReportedRunSchema,
        testName: Type.String(),
        headline: Type.String({ description: 'Summary of the run in words' }),
        shares: Type.Array(ReportedShareSchema),
      }),
    ),
  },
  {
    $id: 'FlowReports',
    examples: [
      {
        reports: [
          {
            run: withoutNulls(EXAMPLE),
            testName: 'Buy a shirt',
            headline: 'Google Analytics 4 add_to_cart is missing',
            shares: [],
          },
        ],
      },
    ],
  },
)
