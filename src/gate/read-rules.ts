import type { Alert, AlertInput } from '../alerts/alert.ts'
import { readAlertInput } from '../alerts/alert-input.ts'
import { AlertInputSchema, AlertSchema } from '../alerts/alert-schema.ts'
import { MAX_RULE_COST, RuleCheck } from '../conditions/condition.ts'
import { AppError } from '../core/error.ts'
import { isJsonObject } from '../core/parse-json-object.ts'
import { parser, type Static, Text, Type } from '../core/schema.ts'
import { type Expectation, ExpectationSchema } from '../flows/expectation.ts'
import { checkExpected } from '../flows/match-expectations.ts'
import { keyOfLabel, type LabelMember, type MembersOf } from '../labels/label.ts'
import type { GateDomain } from './recording.ts'

/** Alerts and labels against which a recording is judged. */
export interface GateRules {
  alerts: Alert[]
  membersOf: MembersOf
}

/** Fields of an alert in a response that a request does not have. */
const READ_ONLY = new Set(
  Object.keys(AlertSchema.properties).filter((field) => !(field in AlertInputSchema.properties)),
)
/** Defaults of fields that the gate does not use, because it sends nothing and evaluates no window. */
const UNUSED = { period: '1h', channels: [{ type: 'email', target: 'owners' }] } satisfies Partial<AlertInput>
const MAX_ALERTS = 10_000

const LabelsSchema = Type.Array(
  Type.Object({
    label: Text(1, 80),
    members: Type.Array(Type.Object({ vendor: Type.String(), event: Type.Optional(Type.String()) })),
  }),
)
const readLabels = parser(LabelsSchema)

/**
 * Returns the rules in a parsed file: the response of `GET /v1/alerts`, a list of alerts, or one alert. `labels` next
 * to `alerts` has the form of `GET /v1/insights/labels`. Throws `invalid`, naming the field, for an invalid alert.
 */
export function readRules(value: unknown, { orgId }: Pick<GateDomain, 'orgId'>): GateRules {
  const { alerts, labels } = listsIn(value)
  if (alerts.length > MAX_ALERTS) throw new AppError('invalid', `alerts: at most ${MAX_ALERTS} alerts are allowed`)
  return {
    alerts: alerts.map((alert, index) => alertOf(alert, index, orgId)),
    membersOf: membersIn(labels === undefined ? [] : readLabels(labels, 'labels')),
  }
}

function listsIn(value: unknown): { alerts: unknown[]; labels?: unknown } {
  if (Array.isArray(value)) return { alerts: value }
  const fields = isJsonObject(value) ? value : {}
  if (Array.isArray(fields.alerts)) return { alerts: fields.alerts, labels: fields.labels }
  if (typeof fields.alertType === 'string') return { alerts: [value] }
  throw new AppError('invalid', 'alerts: must be a list of alerts, as in the response of GET /v1/alerts')
}

function alertOf(value: unknown, index: number, orgId: string): Alert {
  if (!isJsonObject(value)) throw new AppError('invalid', `alerts[${index}]: must be an object`)
  const given = Object.fromEntries(Object.entries(value).filter(([field]) => !READ_ONLY.has(field)))
  const { channels } = given
  const isSilent = channels === undefined || (Array.isArray(channels) && channels.length === 0)
  const input = readAlertInput(
    { ...UNUSED, ...given, ...(isSilent && { channels: UNUSED.channels }) },
    `alerts[${index}]`,
  )
  const id = typeof value.id === 'string' && value.id !== '' ? value.id : `alerts[${index}]`
  return { severity: 'low', timezone: 'UTC', enabled: true, ...input, id, orgId, createdAt: 0, updatedAt: 0 }
}

function membersIn(labels: Static<typeof LabelsSchema>): MembersOf {
  const known = new Map<string, LabelMember[]>()
  for (const { label, members } of labels) {
    known.set(
      keyOfLabel(label),
      members.map(({ vendor, event = '' }) => ({ vendor, event })),
    )
  }
  return (label) => known.get(keyOfLabel(label)) ?? []
}

const readExpectationList = parser(Type.Array(ExpectationSchema, { maxItems: 100 }))

/** Expectations of a flow test. */
export interface GateExpectations {
  /** Name of the test; empty when unknown. */
  name: string
  expectations: Expectation[]
}

/** Returns the expectations in a parsed file: a flow test, an object with `expectations`, or a list of them. */
export function readExpectations(value: unknown): GateExpectations {
  const fields = isJsonObject(value) ? value : {}
  const list = Array.isArray(value) ? value : fields.expectations
  if (!Array.isArray(list)) throw new AppError('invalid', 'expectations: must be a list of expected events')
  const expectations = readExpectationList(list, 'expectations')
  const check = new RuleCheck(MAX_RULE_COST)
  for (const [index, { step: _, withinMs: __, ...expected }] of expectations.entries()) {
    checkExpected(expected, `expectations[${index}]`, check)
  }
  return { name: typeof fields.name === 'string' ? fields.name : '', expectations }
}
