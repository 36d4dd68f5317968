import { SEVERITIES } from '../contract/severities.ts'
import { Closed, InstantSchema, Int, Nullable, OneOf, type Static, Text, Type } from '../core/schema.ts'

/** Maximum number of items in a report. Further ones are counted. */
export const MAX_FINDINGS = 200
const MAX_CHECKS = 10_000
export const MAX_EVENT_KINDS = 2000
export const MAX_UNREAD = 50

const CHECK_KINDS = ['alert', 'expectation', 'orders', 'baseline', 'flow'] as const
const CHECK_STATUSES = ['passed', 'failed', 'skipped'] as const

const CheckSchema = Closed({
  kind: OneOf(CHECK_KINDS),
  id: Nullable(Text(1, 200), { description: 'Id of the alert; null for other checks' }),
  name: Text(0, 300),
  severity: Nullable(OneOf(SEVERITIES), { description: 'Severity of the alert; null for other checks' }),
  status: OneOf(CHECK_STATUSES),
  reason: Nullable(Text(1, 500), { description: 'Reason why the check was skipped; null otherwise' }),
  events: Nullable(Int(), { description: 'Number of events to which the check applies; null when unknown' }),
})
/** One thing that was checked. */
export type Check = Static<typeof CheckSchema>

const FINDING_KINDS = [
  'rule',
  'session',
  'missing',
  'wrong_data',
  'unexpected',
  'duplicate',
  'step_failed',
  'order',
] as const

const EvidenceSchema = Closed({
  file: Text(0, 300, { description: 'Name of the HAR file' }),
  entry: Int({ description: 'Index in `log.entries`, from 0' }),
  at: InstantSchema,
  url: Text(0, 2000, { description: 'URL of the request without its query' }),
  page: Nullable(Text(0, 2000), { description: 'Host and path of the page' }),
})

const FindingSchema = Closed({
  check: Int({ description: 'Index in `checks`' }),
  kind: OneOf(FINDING_KINDS),
  vendor: Nullable(Text(0, 200)),
  event: Nullable(Text(0, 200)),
  sentence: Text(1, 4000, { description: 'Description of the fault, without a full stop' }),
  expected: Nullable(Text(0, 4000)),
  observed: Nullable(Text(0, 4000)),
  count: Int({ minimum: 1, description: 'Number of events with this fault' }),
  parameters: Type.Array(
    Closed({
      parameter: Text(0, 300),
      expected: Text(0, 2000),
      observed: Nullable(Text(0, 2000), { description: 'Value with personal data masked; null when there is none' }),
    }),
    { maxItems: 100, description: 'Parameters that caused the fault' },
  ),
  evidence: Nullable(EvidenceSchema, { description: 'The first event with this fault; null when an event is missing' }),
})
export type GateFinding = Static<typeof FindingSchema>

const EventKindSchema = Closed({
  vendor: Text(0, 200),
  event: Text(0, 200),
  account: Nullable(Text(0, 200)),
  page: Nullable(Text(0, 2000), { description: 'Path of the page, with ids replaced by `:id`' }),
  count: Int({ minimum: 1 }),
  copies: Int({ description: 'Number of events that repeat another one with the same data' }),
  parameters: Type.Array(Text(1, 200), {
    maxItems: 500,
    description: 'Parameters set by the site that every one of these events has',
  }),
})
/** The events of one kind in a recording, as compared with a baseline. */
export type EventKind = Static<typeof EventKindSchema>

const UnreadSchema = Closed({
  file: Text(0, 300),
  entry: Int(),
  host: Text(0, 300),
  reason: Text(1, 1000),
})

/** Value of `format`. */
export const REPORT_FORMAT = 'tagwarden-gate-1'

const FINDING = {
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

const EXAMPLE = {
  format: REPORT_FORMAT,
  name: 'checkout',
  ref: '8f2c1ab',
  domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta',
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

export const GateReportSchema = Closed(
  {
    format: Type.Literal(REPORT_FORMAT),
    name: Text(1, 100, { description: 'Name of the gate. Runs with the same name are compared with each other' }),
    ref: Nullable(Text(1, 200), { description: 'Commit or version of the release; null when unknown' }),
    domainId: Nullable(Text(1, 100), { description: 'Domain of the recording; null when unknown' }),
    status: OneOf(['passed', 'failed']),
    createdAt: InstantSchema,
    recordings: Type.Array(Closed({ file: Text(0, 300), requests: Int(), events: Int() }), { maxItems: 1000 }),
    checks: Type.Array(CheckSchema, { maxItems: MAX_CHECKS }),
    findings: Type.Array(FindingSchema, { maxItems: MAX_FINDINGS }),
    moreFindings: Int({ maximum: 1e9, description: 'Number of further findings that are not listed' }),
    baseline: Nullable(Text(1, 300), { description: 'File or id of the run that was the baseline; null: none' }),
    events: Type.Array(EventKindSchema, { maxItems: MAX_EVENT_KINDS }),
    unread: Type.Array(UnreadSchema, {
      maxItems: MAX_UNREAD,
      description: 'Requests to vendors that could not be judged, because the recording lacks their body',
    }),
  },
  { $id: 'GateReport', examples: [EXAMPLE] },
)
/** The result of a run of the release gate. Contains no personal data. */
export type GateReport = Static<typeof GateReportSchema>

/** A report as an example of the documentation. */
export const REPORT_EXAMPLE = EXAMPLE as GateReport
