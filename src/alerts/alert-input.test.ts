import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { anyJson } from '../../test/fixtures.ts'
import { AppError } from '../core/error.ts'
import { validationInput, volumeInput } from './alert.fixture.ts'
import { readAlertInput } from './alert-input.ts'

const many = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item)
const text = (length: number) => 'x'.repeat(length)
const condition = { parameter: 'value', op: 'is_blank' }
const conditions = (count: number, item: object = condition) => ({ logic: 'all', items: many(count, item) })
const channel = { type: 'email', target: 'ops@example.com' }
const anomalyInput = {
  ...volumeInput,
  conditions: undefined,
  alertType: 'volume_anomaly',
  volume: { vendor: 'ga4', sensitivity: 4 },
}
const anomaly = (values: object) => ({ ...anomalyInput, volume: { ...anomalyInput.volume, ...values } })
const volume = (values: object) => ({ ...volumeInput, volume: { op: 'lte', count: 5, ...values } })
const throttle = (values: object) => ({ throttle: { count: 1, per: 1, unit: 'hours', ...values } })
const group = { op: 'any', items: [condition] }

/** Changes to a valid alert that keep it valid. */
const ACCEPTED: [string, object][] = [
  ['a name of 1 character', { name: 'x' }],
  ['a name of 200 characters', { name: text(200) }],
  ['a name of 200 UTF-16 code units outside the BMP', { name: '🙂'.repeat(100) }],
  ['no domains', { domainIds: [] }],
  ['100 domainIds', { domainIds: many(100, 'dom_1') }],
  ['domainId and domainIds', { domainId: 'dom_1', domainIds: ['dom_2'] }],
  ...['low', 'medium', 'high', 'critical'].map((severity): [string, object] => [severity, { severity }]),
  ['100 vendors of 200 characters', { vendors: many(100, text(200)) }],
  ['no vendors', { vendors: [] }],
  ['50 conditions', { conditions: conditions(50) }],
  ['any of one condition', { conditions: { logic: 'any', items: [condition] } }],
  ['50 filters', { filters: many(50, condition) }],
  ['20 groups of 50', { conditionGroups: many(20, { op: 'any', items: many(50, condition) }) }],
  ['groups without conditions', { conditions: undefined, conditionGroups: [group] }],
  ['an empty list of conditions', { conditions: conditions(0) }],
  ['any of an empty list', { conditions: { logic: 'any', items: [] }, conditionGroups: [{ op: 'any', items: [] }] }],
  ['groups and all of an empty list', { conditions: conditions(0), conditionGroups: [group] }],
  ['a parameter of 200 characters', { conditions: conditions(1, { parameter: text(200), op: 'is_blank' }) }],
  [
    '50 conditions with 100 values of 1000 characters',
    { conditions: conditions(50, { parameter: 'a', op: 'equals', values: many(100, text(1000)) }) },
  ],
  ['100 values of 1000 characters', { filters: [{ parameter: 'a', op: 'equals', values: many(100, text(1000)) }] }],
  ['a period of 4 weeks', { period: '4w' }],
  ['a period of a minute', { period: '1m' }],
  ['a named period', { period: 'weekly' }],
  ['timezone', { timezone: 'America/Argentina/ComodRivadavia' }],
  ['hours', { runWindows: { hours: [0, 23] } }],
  ['7 days', { runWindows: { days: [0, 1, 2, 3, 4, 5, 6] } }],
  ['empty run windows', { runWindows: {} }],
  ['the lowest throttle', throttle({ unit: 'minutes' })],
  ['the highest throttle', throttle({ count: 1000, per: 10_080 })],
  ['10 channels', { channels: many(10, channel) }],
  ...['email', 'team_chat', 'office_chat', 'webhook', 'issue_tracker'].map((type): [string, object] => [
    type,
    { channels: [{ type, target: text(2000) }] },
  ]),
  ['no impact value', { impactValue: 0 }],
  ['off', { enabled: false }],
  ['the highest count', volume({ count: 100_000_000 })],
  ['a count of 0', volume({ op: 'gte', count: 0 })],
  ['an event of 200 characters', volume({ event: text(200) })],
  [
    'a volume alert with filters',
    { ...volumeInput, filters: [{ parameter: '$host', op: 'regex', values: ['^shop'] }] },
  ],
  ['a volume alert with empty conditions', { ...volumeInput, conditions: conditions(0), conditionGroups: [] }],
]

/** Returns an alert as parsed from JSON: a validation alert with these changes, or a volume alert unchanged. */
function alertWith(values: object): unknown {
  const isWhole = 'alertType' in values && values.alertType === 'volume_threshold'
  return JSON.parse(JSON.stringify(isWhole ? values : { ...validationInput, ...values }))
}

test.each(ACCEPTED)('an alert is accepted: %s', (_, values) => {
  const value = alertWith(values)
  expect<unknown>(readAlertInput(value)).toEqual(value)
})

/** The field that the error names, and the change to a valid alert that causes the error. */
const REFUSED: [string, object][] = [
  ['name', { name: '' }],
  ['name', { name: text(201) }],
  ['name', { name: '  ' }],
  ['name', { name: undefined }],
  ['name', { name: 7 }],
  ['domainId', { domainId: 7 }],
  ['domainIds', { domainIds: many(101, 'dom_1') }],
  ['domainIds[1]', { domainIds: ['dom_1', null] }],
  ['alertType', { alertType: 'other' }],
  ['alertType', { alertType: undefined }],
  ['severity', { severity: 'urgent' }],
  ['vendors', { vendors: many(101, 'ga4') }],
  ['vendors[2]', { vendors: ['a', 'b', text(201)] }],
  ['conditions', { conditions: undefined }],
  ['conditions', { conditions: undefined, conditionGroups: [] }],
  ['conditions.items', { conditions: conditions(51) }],
  ['conditions.logic', { conditions: { items: [condition] } }],
  ['conditions.logic', { conditions: { logic: 'none', items: [condition] } }],
  ['conditions.items', { conditions: { logic: 'any' } }],
  ['conditions.items[0].op', { conditions: conditions(1, { parameter: 'a', op: 'like' }) }],
  ['conditions.items[0].parameter', { conditions: conditions(1, { parameter: '', op: 'is_blank' }) }],
  ['conditions.items[0].parameter', { conditions: conditions(1, { parameter: text(201), op: 'is_blank' }) }],
  ['conditions.items[0].parameter', { conditions: conditions(1, { parameter: '$nothing', op: 'is_blank' }) }],
  ['conditions.items[0].values', { conditions: conditions(1, { parameter: 'a', op: 'equals' }) }],
  ['conditions.items[0].values[0]', { conditions: conditions(1, { parameter: 'a', op: 'regex', values: ['('] }) }],
  ['conditions.items[0].values[1]', { conditions: conditions(1, { parameter: 'a', op: 'gt', values: ['1', 'x'] }) }],
  ['filters', { filters: many(51, condition) }],
  ['filters[0].values', { filters: [{ parameter: 'a', op: 'equals', values: many(101, 'x') }] }],
  ['filters[0].values[1]', { filters: [{ parameter: 'a', op: 'equals', values: ['', text(1001)] }] }],
  ['filters[1].values', { filters: [condition, { parameter: 'a', op: 'contains', values: [] }] }],
  ['conditionGroups', { conditionGroups: many(21, group) }],
  ['conditionGroups[0].items', { conditionGroups: [{ op: 'any', items: many(51, condition) }] }],
  ['conditionGroups[0].op', { conditionGroups: [{ items: [condition] }] }],
  ['conditionGroups[0].items[0].values', { conditionGroups: [{ op: 'all', items: [{ parameter: 'a', op: 'lt' }] }] }],
  ['period', { period: undefined }],
  ['period', { period: '' }],
  ['period', { period: `1${text(20)}` }],
  ['period', { period: '0m' }],
  ['period', { period: '5w' }],
  ['period', { period: 'monthly' }],
  ['timezone', { timezone: text(51) }],
  ['timezone', { timezone: 'Europe/Atlantis' }],
  ['runWindows.hours', { runWindows: { hours: [9] } }],
  ['runWindows.hours', { runWindows: { hours: [9, 17, 18] } }],
  ['runWindows.hours[1]', { runWindows: { hours: [9, 24] } }],
  ['runWindows.hours[0]', { runWindows: { hours: [-1, 17] } }],
  ['runWindows.hours[0]', { runWindows: { hours: [9.5, 17] } }],
  ['runWindows.days', { runWindows: { days: [0, 1, 2, 3, 4, 5, 6, 0] } }],
  ['runWindows.days[0]', { runWindows: { days: [7] } }],
  ['runWindows.minutes', { runWindows: { minutes: [1] } }],
  ['throttle.count', throttle({ count: 0 })],
  ['throttle.count', throttle({ count: 1001 })],
  ['throttle.per', throttle({ per: 0 })],
  ['throttle.per', throttle({ per: 10_081 })],
  ['throttle.unit', throttle({ unit: 'days' })],
  ['throttle.unit', { throttle: { count: 1, per: 1 } }],
  ['channels', { channels: [] }],
  ['channels', { channels: undefined }],
  ['channels', { channels: many(11, channel) }],
  ['channels[0].target', { channels: [{ type: 'email', target: '' }] }],
  ['channels[1].target', { channels: [channel, { type: 'email', target: text(2001) }] }],
  ['channels[0].type', { channels: [{ type: 'pager', target: 'x' }] }],
  ['impactValue', { impactValue: -1 }],
  ['impactValue', { impactValue: 1.5 }],
  ['enabled', { enabled: 'yes' }],
  ['owner', { owner: 'me' }],
  ['volume', { volume: { op: 'lte', count: 1 } }],
  ['journey', { journey: { steps: [{}] } }],
  ['volume', { ...volumeInput, volume: undefined }],
  ['volume', { ...volumeInput, volume: 7 }],
  ['volume.count', volume({ count: -1 })],
  ['volume.count', volume({ count: 100_000_001 })],
  ['volume.count', volume({ count: 1.5 })],
  ['volume.count', volume({ count: undefined })],
  ['volume.op', volume({ op: 'eq' })],
  ['volume.event', volume({ event: text(201) })],
  ['volume.vendor', volume({ vendor: 'ga4' })],
  ['volume.percent', volume({ percent: 5 })],
  ['volume.op', { ...volumeInput, volume: { direction: 'increase', percent: 5 } }],
  ['volume.op', { ...volumeInput, volume: { vendor: 'ga4' } }],
  ['journey', { ...volumeInput, journey: { steps: [{}] } }],
  ['conditions', { ...volumeInput, conditions: conditions(1) }],
  ['conditionGroups[1]', { ...volumeInput, conditionGroups: [{ op: 'all', items: [] }, group] }],
  ['volume', { ...anomalyInput, volume: undefined }],
  ['volume.vendor', anomaly({ vendor: undefined })],
  ['volume.vendor', anomaly({ vendor: '' })],
  ['volume.vendor', anomaly({ vendor: text(201) })],
  ['volume.event', anomaly({ event: text(201) })],
  ['volume.sensitivity', anomaly({ sensitivity: 1.9 })],
  ['volume.sensitivity', anomaly({ sensitivity: 8.1 })],
  ['volume.vendor', { ...anomalyInput, volume: { op: 'lte', count: 1 } }],
  ['volume.event', anomaly({ vendor: '*', event: 'purchase' })],
  ['period', { ...anomaly({ vendor: '*' }), period: '5m' }],
  ['filters', { ...anomalyInput, filters: [condition] }],
  ['conditions', { ...anomalyInput, conditions: conditions(1) }],
  ['vendors', { ...anomalyInput, vendors: ['other'] }],
  ['vendors', { ...anomalyInput, vendors: ['ga4', 'other'] }],
  ['journey', { ...anomalyInput, journey: { steps: [{}] } }],
  ['filters[1].op', { ...volumeInput, filters: [condition, { parameter: 'tel', op: 'contains_phone' }] }],
]

describe('an invalid alert', () => {
  test.each<[string, object, string]>([
    ['no channel', { channels: [] }, 'channels: must have at least one item'],
    [
      'the fields of a volume change in a threshold alert',
      { ...volumeInput, volume: { direction: 'increase', percent: 5 } },
      'volume.op: a volume_threshold alert requires op and count; direction and percent are for tag_volume_change',
    ],
    [
      'one field of a volume change in a threshold alert',
      { ...volumeInput, volume: { percent: 5 } },
      'volume.op: a volume_threshold alert requires op and count; percent is for tag_volume_change',
    ],
    [
      'the fields of an anomaly in a threshold alert',
      { ...volumeInput, volume: { vendor: 'ga4' } },
      'volume.op: a volume_threshold alert requires op and count; vendor is for volume_anomaly',
    ],
    [
      'the fields of a threshold in an anomaly alert',
      { ...anomalyInput, volume: { op: 'lte', count: 1 } },
      'volume.vendor: a volume_anomaly alert requires vendor; op and count are for volume_threshold',
    ],
    [
      'the fields of a threshold in a volume change alert',
      { ...volumeInput, alertType: 'tag_volume_change', volume: { op: 'lte', count: 1 } },
      'volume.direction: a tag_volume_change alert requires direction and percent; op and count are for volume_threshold',
    ],
    ['no fields', { ...volumeInput, volume: {} }, 'volume.op: is missing'],
  ])('is rejected with a readable message: %s', (_, values, message) => {
    expect(() => readAlertInput(alertWith(values))).toThrow(expect.objectContaining({ code: 'invalid', message }))
  })

  const cases = REFUSED.map(([field, values]) => [field, JSON.stringify(values).slice(0, 80), values] as const)
  test.each(cases)('is rejected with an error that names %s: %s', (field, _, values) => {
    const value = alertWith(values)
    for (const [root, name] of [
      ['', field],
      ['alerts[3]', `alerts[3].${field}`],
    ] as const) {
      let refusal: unknown
      try {
        readAlertInput(value, root)
      } catch (error) {
        refusal = error
      }
      expect(refusal).toBeInstanceOf(AppError)
      expect((refusal as AppError).code).toBe('invalid')
      expect((refusal as AppError).message.split(': ')[0]).toBe(name)
    }
  })

  test.each([
    [null, 'body'],
    ['text', 'body'],
    [[], 'body'],
    [undefined, 'body'],
  ])('is rejected as a whole when it is %p', (value, name) => {
    expect(() => readAlertInput(value)).toThrow(new RegExp(`^${name}: `))
    expect(() => readAlertInput(value, 'alerts[3]')).toThrow(/^alerts\[3\]: /)
  })

  test('throws no error other than AppError', () => {
    const field = fc.constantFrom(...Object.keys({ ...validationInput, ...volumeInput }), 'filters', 'conditionGroups')
    const base = fc.constantFrom(validationInput, volumeInput)
    fc.assert(
      fc.property(base, field, anyJson, (base, field, value) => {
        try {
          readAlertInput({ ...base, [field]: value })
        } catch (error) {
          expect(error).toBeInstanceOf(AppError)
        }
      }),
    )
  })
})

test('an empty time zone defaults to UTC', () => {
  expect(readAlertInput({ ...validationInput, timezone: '' }).timezone).toBe('UTC')
})
