import { Closed, InstantSchema, Int, Nullable, OneOf, type Static, Type } from '../core/schema.ts'
import { type GateFinding, type GateReport, GateReportSchema, REPORT_FORMAT } from './report.ts'

export const GATE_STATUSES = ['passed', 'failed'] as const

const summaryFields = {
  id: Type.String(),
  name: Type.String({ description: 'Name of the gate' }),
  ref: Nullable(Type.String({ description: 'Commit or version of the release' })),
  domainId: Nullable(Type.String({ description: 'Domain of the recording; null when unknown' })),
  status: OneOf(GATE_STATUSES),
  problems: Int({ description: 'Number of findings' }),
  createdAt: InstantSchema,
  approvedAt: Nullable(InstantSchema, { description: 'Time at which the run was approved as a baseline' }),
}

const EXAMPLE = {
  id: 'gat_01ke7jm2q0d3k8f1z6y5b7n4ta',
  name: 'checkout',
  ref: '8f2c1ab',
  domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta',
  status: 'failed',
  problems: 1,
  createdAt: 1_767_614_400_000,
  approvedAt: null,
} as const

/** A run of the release gate without its report. */
export const GateRunSummarySchema = Closed(summaryFields, { $id: 'GateRunSummary', examples: [EXAMPLE] })
export type GateRunSummary = Static<typeof GateRunSummarySchema>

const FINDING: GateFinding = {
  check: 0,
  kind: 'rule',
  vendor: 'Google Analytics 4',
  event: 'purchase',
  sentence: 'Google Analytics 4 purchase had no `ep.transaction_id` on /checkout/thanks',
  expected: 'a value of `ep.transaction_id`',
  observed: 'no `ep.transaction_id`',
  count: 1,
  parameters: [{ parameter: 'ep.transaction_id', expected: 'a value of `ep.transaction_id`', observed: null }],
  evidence: {
    file: 'checkout.har',
    entry: 14,
    at: 1_767_614_400_000,
    url: 'https://region1.google-analytics.com/g/collect',
    page: 'shop.example/checkout/thanks',
  },
}

/** A report as an example of the documentation. */
export const REPORT_EXAMPLE: GateReport = {
  format: REPORT_FORMAT,
  name: 'checkout',
  ref: '8f2c1ab',
  domainId: EXAMPLE.domainId,
  status: 'failed',
  createdAt: 1_767_614_400_000,
  recordings: [{ file: 'checkout.har', requests: 41, events: 6 }],
  checks: [
    {
      kind: 'alert',
      id: 'alr_01ke7jm2q0d3k8f1z6y5b7n4ta',
      name: 'Purchase without transaction id',
      severity: 'high',
      status: 'failed',
      reason: null,
      events: 1,
    },
  ],
  findings: [FINDING],
  moreFindings: 0,
  baseline: null,
  events: [
    {
      vendor: 'Google Analytics 4',
      event: 'purchase',
      account: 'G-ABC123',
      page: '/checkout/thanks',
      count: 1,
      copies: 0,
      parameters: ['cu', 'epn.value'],
    },
  ],
  unread: [],
}

export const GateRunSchema = Closed(
  { ...summaryFields, report: GateReportSchema },
  { $id: 'GateRun', examples: [{ ...EXAMPLE, report: REPORT_EXAMPLE }] },
)
export type GateRun = Static<typeof GateRunSchema>
