import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Alert } from '#client/types.gen'
import { readAlertInput } from '../../../src/alerts/alert-input.ts'
import { alertFrom } from '../../../src/alerts/alert-store.ts'
import { alertTypes } from '../../../src/alerts/types/index.ts'
import { OPERATORS, WITHOUT_VALUES } from '../../../src/contract/condition-operators.ts'
import type { Form } from '../../../src/forms/forms.ts'
import { formsOfAll } from '../../../src/forms/forms.ts'
import { pathsOf } from '../../../src/web/components/form-schema.ts'
import { draftOf, sharedPaths, toInput } from '../../../src/web/pages/alerts/editor/convert-alert-draft.ts'
import { schemaOf } from '../../../src/web/pages/alerts/editor/draft.ts'

const FORMS = formsOfAll([], [], []).alertTypes as readonly Form[]

const text = fc
  .string({ minLength: 1, maxLength: 12, unit: 'grapheme' })
  .filter((one) => one.isWellFormed() && !one.includes('\0'))
const id = fc.integer({ min: 0, max: 3 }).map((n) => `dom_${n}`)
const valueFor = (op: string) => {
  if (op === 'regex' || op === 'custom_pii_regex') return fc.constantFrom('^a+$', '[0-9]{3}', 'x|y')
  return /^(?:gt|lt|length_)/.test(op) ? fc.nat(99).map(String) : text
}
// Operators that require no values may nevertheless be stored with values.
const condition = fc.constantFrom(...OPERATORS.filter((op) => op !== 'contains_phone')).chain((op) =>
  fc.record(
    {
      parameter: fc.oneof(
        fc.constantFrom('value', '$event', '$host', '*', '$$os'),
        text.filter((key) => !key.startsWith('$')),
      ),
      op: fc.constant(op),
      values: fc.array(valueFor(op), { minLength: WITHOUT_VALUES.has(op) ? 0 : 1, maxLength: 3 }),
    },
    { requiredKeys: WITHOUT_VALUES.has(op) ? ['parameter', 'op'] : ['parameter', 'op', 'values'] },
  ),
)
const eventFilter = fc.record({
  parameter: fc.constant('$event'),
  op: fc.constant('equals'),
  values: text.map((one) => [one]),
})
const exact = condition.filter(({ op }) => ['equals', 'is_blank', 'gt', 'not_contains'].includes(op))
const some = <T>(of: fc.Arbitrary<T>, minLength = 0) => fc.array(of, { minLength, maxLength: 3 })
const logic = fc.constantFrom('any', 'all')

const shared = {
  name: text.filter((name) => name.trim() !== ''),
  domainId: id,
  domainIds: some(id),
  severity: fc.constantFrom('low', 'medium', 'high', 'critical'),
  period: fc.constantFrom('1h', '6h', '2d', 'weekly'),
  timezone: fc.constantFrom('UTC', 'Europe/Berlin', '+05:30'),
  runWindows: fc.record(
    { hours: fc.tuple(fc.nat(23), fc.nat(23)), days: fc.array(fc.nat(6), { maxLength: 7 }) },
    { requiredKeys: [] },
  ),
  throttle: fc.record({
    count: fc.integer({ min: 1, max: 1000 }),
    per: fc.integer({ min: 1, max: 10_080 }),
    unit: fc.constantFrom('minutes', 'hours'),
  }),
  channels: some(fc.record({ type: fc.constantFrom('email', 'webhook'), target: text }), 1),
  impactValue: fc.nat(),
  enabled: fc.boolean(),
}
const vendors = some(text)
const filters = some(fc.oneof(eventFilter, exact))
const step = fc.record({
  anchor: fc.oneof(
    fc.constant({ kind: 'session' }),
    fc.record(
      { kind: fc.constant('page'), path: text, op: fc.constantFrom('equals', 'contains') },
      { requiredKeys: ['kind', 'path'] },
    ),
    fc.record({ kind: fc.constant('label'), label: text }),
    fc.record({ kind: fc.constant('event'), vendor: text, event: text }, { requiredKeys: ['kind'] }),
  ),
  expect: some(
    fc.record(
      { label: text, vendor: text, event: text, ordered: fc.boolean(), data: some(exact) },
      { requiredKeys: [] },
    ),
  ),
})

/** Fields that only one alert type has, by type. */
const own: Readonly<Record<string, Record<string, fc.Arbitrary<unknown>>>> = {
  data_validation: {
    vendors,
    filters: some(fc.oneof(eventFilter, condition)),
    conditions: fc.record({ logic, items: some(condition, 1) }),
    conditionGroups: some(
      fc.oneof(fc.record({ op: logic, items: some(condition, 1) }), fc.constant({ op: 'all', items: [] })),
    ),
  },
  volume_threshold: {
    vendors,
    filters,
    volume: fc.record(
      { op: fc.constantFrom('lte', 'gte'), count: fc.nat(1000), event: text },
      { requiredKeys: ['op', 'count'] },
    ),
  },
  tag_volume_change: {
    vendors,
    filters,
    volume: fc.record(
      { direction: fc.constantFrom('increase', 'decrease'), percent: fc.integer({ min: 1, max: 900 }), event: text },
      { requiredKeys: ['direction', 'percent'] },
    ),
  },
  volume_anomaly: {
    volume: fc.record(
      { vendor: text, event: text, sensitivity: fc.constantFrom(2, 4.5, 8) },
      { requiredKeys: ['vendor'] },
    ),
  },
  journey: {
    journey: fc.oneof(
      fc.record({ version: fc.constant(2), steps: some(step, 1) }),
      fc.record({ steps: some(fc.record({ vendor: text, event: text }, { requiredKeys: [] }), 1) }),
    ),
  },
}
const NEEDED = ['name', 'alertType', 'period', 'channels', 'volume', 'journey', 'conditions']

const input = fc.constantFrom(...Object.keys(own)).chain((alertType) => {
  const fields = { ...shared, alertType: fc.constant(alertType), ...own[alertType] }
  return fc.record(fields, { requiredKeys: NEEDED.filter((field) => field in fields) as never })
})

/** Returns the paths of all strings, numbers and lists of these in the value. */
function leavesOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) {
    const isPlain = value.length > 0 && value.every((one) => typeof one !== 'object')
    return isPlain ? [path] : value.flatMap((one, index) => leavesOf(one, `${path}[${index}]`))
  }
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([name, part]) => leavesOf(part, path ? `${path}.${name}` : name))
}

test('every alert type has a generator', () => {
  expect(Object.keys(own).sort()).toEqual(alertTypes.map(({ kind }) => kind).sort())
})

test('an unedited alert is saved unchanged, and every part of it has a form field', () => {
  const row = { id: 'alr_1', orgId: 'org_1', createdAt: 1, updatedAt: 2 }
  let accepted = 0
  fc.assert(
    fc.property(input, (given) => {
      const read = readable(given)
      fc.pre(read !== null)
      if (read === null) return
      accepted++
      const { id: _, orgId, createdAt, updatedAt, ...asSaved } = alertFrom(read, row)
      const draft = draftOf(alertFrom(read, row) as Alert)
      expect(toInput(draft)).toStrictEqual(asSaved as never)
      const form = FORMS.find(({ kind }) => kind === draft.alertType)
      const shown = new Set([...sharedPaths(draft), ...pathsOf(schemaOf(form), draft)])
      expect(leavesOf(asSaved).filter((path) => !shown.has(path))).toEqual([])
    }),
    { numRuns: 300 },
  )
  expect(accepted).toBe(300)
})

function readable(given: unknown) {
  try {
    return readAlertInput(given)
  } catch {
    return null
  }
}
