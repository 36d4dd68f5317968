import { describe, expect, test } from 'bun:test'
import { RuleCheck } from '../conditions/condition.ts'
import type { Expectation } from './expectation.ts'
import { checkExpectations, checkExpected, compileExpectations, membersOfNamed, unmet } from './match-expectations.ts'
import { runEvent } from './run-result.fixture.ts'

const VENDOR = 'Google Analytics 4'
const labels = { Checkout: [{ vendor: VENDOR, event: 'purchase' }], Meta: [{ vendor: 'Meta Pixel', event: '' }] }
const isUnmet = (expectation: Expectation, ...events: Parameters<typeof runEvent>[0][]) =>
  unmet(compileExpectations([expectation], labels), events.map(runEvent)).length === 1

const purchase = { vendor: VENDOR, event: 'purchase', account: 'G-1', params: { currency: 'EUR', value: '10' } }

describe('expectation matching', () => {
  test.each<[string, Expectation, Parameters<typeof runEvent>[0][], boolean]>([
    ['no event', { event: 'purchase' }, [], false],
    ['the event', { event: 'purchase' }, [purchase], true],
    ['another event', { event: 'purchase' }, [{ ...purchase, event: 'Purchase' }], false],
    ['vendor and event', { vendor: VENDOR, event: 'purchase' }, [purchase], true],
    ['another vendor', { vendor: 'Meta Pixel', event: 'purchase' }, [purchase], false],
    ['the account', { event: 'purchase', account: 'G-1' }, [purchase], true],
    ['another account', { event: 'purchase', account: 'G-2' }, [purchase], false],
    ['no account', { event: 'purchase', account: 'G-1' }, [{ ...purchase, account: null }], false],
    ['the label', { label: 'Checkout' }, [purchase], true],
    ['a label of a whole vendor', { label: 'Meta' }, [{ vendor: 'Meta Pixel', event: 'Lead' }], true],
    ['an unknown label', { label: 'nowhere' }, [purchase], false],
    ['a label that objects inherit', { label: 'constructor' }, [purchase], false],
    ['its data', { event: 'purchase', data: [{ parameter: 'value', op: 'gt', values: ['5'] }] }, [purchase], true],
    ['other data', { event: 'purchase', data: [{ parameter: 'value', op: 'gt', values: ['50'] }] }, [purchase], false],
    [
      'all of the data',
      {
        event: 'purchase',
        data: [
          { parameter: 'value', op: 'not_blank' },
          { parameter: 'id', op: 'not_blank' },
        ],
      },
      [purchase],
      false,
    ],
    ['the data of a label', { data: [{ parameter: '$label', op: 'equals', values: ['Checkout'] }] }, [purchase], true],
    [
      'a field',
      { event: 'purchase', data: [{ parameter: '$path', op: 'equals', values: ['/thanks'] }] },
      [{ ...purchase, path: '/thanks' }],
      true,
    ],
    [
      'a failed response',
      { event: 'purchase', data: [{ parameter: '$status', op: 'equals', values: ['ok'] }] },
      [{ ...purchase, status: 500 }],
      false,
    ],
    [
      'a request answered by the browser',
      { event: 'purchase', data: [{ parameter: '$status', op: 'equals', values: ['ok'] }] },
      [{ ...purchase, answered: true }],
      true,
    ],
    ['fewer than min', { event: 'purchase', min: 2 }, [purchase], false],
    ['min', { event: 'purchase', min: 2 }, [purchase, purchase], true],
    ['the step', { event: 'purchase', step: 3 }, [{ ...purchase, step: 3 }], true],
    ['another step', { event: 'purchase', step: 3 }, [{ ...purchase, step: 4 }], false],
    ['max 0 does not wait', { event: 'purchase', max: 0 }, [], true],
    ['min 0 does not wait', { event: 'purchase', min: 0 }, [], true],
  ])('is correct for the case: %s', (_name, expectation, events, met) => {
    expect(isUnmet(expectation, ...events)).toBe(!met)
  })

  test('uses the defaults of omitted fields', () => {
    const [plain, never] = compileExpectations([{ event: 'a' }, { event: 'b', min: 3, max: 0 }], {})
    expect(plain?.expectation).toMatchObject({ min: 1, max: null, withinMs: 5000 })
    expect(never?.expectation).toMatchObject({ min: 0, max: 0 })
  })
})

describe('the validation of expectations', () => {
  test.each<[Expectation, string]>([
    [{}, 'expectations[1]: label, vendor, event, account or data is required; otherwise, any event would match'],
    [
      { data: [] },
      'expectations[1]: label, vendor, event, account or data is required; otherwise, any event would match',
    ],
    [{ event: 'a', step: 5 }, 'expectations[1].step: the recording has 5 steps, 0 to 4'],
    [{ event: 'a', min: 3, max: 2 }, 'expectations[1].max: must be 0 or at least min, 3'],
    [
      { event: 'a', data: [{ parameter: 'x', op: 'gt', values: ['many'] }] },
      'expectations[1].data[0].values[0]: "many" is not a number; expected one such as 12, -0.5 or 1e3',
    ],
    [{ event: 'a', data: [{ parameter: 'x', op: 'regex', values: ['('] }] }, 'expectations[1].data[0].values[0]: '],
    [
      { event: 'a', data: [{ parameter: 'tel', op: 'contains_phone' }] },
      'expectations[1].data[0].op: contains_phone is only supported in data_validation alerts, which evaluate each event',
    ],
  ])('rejects %j', (expectation, message) => {
    expect(() => checkExpectations([{ event: 'fine' }, expectation], 5)).toThrow(message)
  })

  test('rejects step 1 for a recording of one step', () => {
    expect(() => checkExpectations([{ event: 'a', step: 1 }], 1)).toThrow(
      'expectations[0].step: the recording has 1 step, with the index 0',
    )
  })

  test('applies one limit to the conditions of all expectations', () => {
    const data = [{ parameter: 'x', op: 'equals' as const, values: Array<string>(20).fill('y'.repeat(1000)) }]
    const many = Array.from({ length: 11 }, () => ({ event: 'a', data }))
    expect(() => checkExpectations(many, 1)).toThrow('expectations[10].data[0]')
  })

  test.each<Expectation>([
    { event: 'a' },
    { account: 'G-1' },
    { data: [{ parameter: '*', op: 'contains_email' }], max: 0 },
    { event: 'a', min: 1, max: 0 },
    { event: 'a', step: 4, max: 1 },
  ])('accepts %j', (expectation) => {
    checkExpectations([expectation], 5)
    checkExpected(expectation, 'expect[0]', new RuleCheck())
  })
})

test('named labels are resolved to their members', () => {
  const expectations: Expectation[] = [
    { label: 'Checkout' },
    { event: 'a', data: [{ parameter: '$label', op: 'equals', values: ['Meta', 'none'] }] },
  ]
  const members = { checkout: labels.Checkout, meta: labels.Meta }
  const membersOf = (label: string) => members[label.toLowerCase() as keyof typeof members] ?? []
  expect(membersOfNamed(expectations, membersOf)).toEqual({ ...labels, none: [] })
})
