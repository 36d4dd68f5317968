import { describe, expect, test } from 'bun:test'
import type { Form } from '#client/types.gen'
import { missingOf, sharedPaths, toInput } from './convert-alert-draft.ts'
import {
  type Draft,
  domainsOf,
  EMPTY,
  eventFilterIndex,
  eventOf,
  filtersOf,
  suggestedName,
  vendorOf,
  withDomain,
  withDomains,
  withEvent,
  withOperator,
  withType,
  withVendor,
} from './draft.ts'

const text = { type: 'string' }
const own = (kind: string, properties: object, required: string[]): Form => ({
  kind,
  title: kind,
  help: '',
  schema: { type: 'object', properties: { volume: { type: 'object', properties, required } }, required: ['volume'] },
})
const plain: Form = { kind: 'data_validation', title: '', help: '', schema: { type: 'object', properties: {} } }
const threshold = own('volume_threshold', { count: { type: 'integer', title: 'Count' }, event: text }, ['count'])
const anomaly = own('volume_anomaly', { vendor: { ...text, title: 'Vendor' }, event: text }, ['vendor'])
const forms = [plain, threshold, anomaly]

const rule: Draft = {
  ...EMPTY,
  vendors: ['Meta Pixel'],
  filters: [
    { parameter: '$event', op: 'equals', values: ['Purchase'] },
    { parameter: '$host', op: 'equals', values: ['shop.example'] },
  ],
  conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
}

describe('an alert draft', () => {
  test('stores vendor and event in the fields of its type, and moves them when the type changes', () => {
    const counted = withType(rule, forms, 'volume_threshold')
    expect(counted).toMatchObject({ vendors: ['Meta Pixel'], volume: { event: 'Purchase' } })
    expect(counted.conditions).toBeUndefined()
    expect(counted.filters).toEqual(filtersOf(rule))
    const followed = withType(counted, forms, 'volume_anomaly')
    expect(followed.volume).toEqual({ vendor: 'Meta Pixel', event: 'Purchase' })
    expect(followed.vendors).toBeUndefined()
    const back = withType(followed, forms, 'data_validation')
    expect(back.volume).toBeUndefined()
    expect([vendorOf(back, plain), eventOf(back, plain)]).toEqual(['Meta Pixel', 'Purchase'])
    expect(back.conditions).toEqual(EMPTY.conditions)
  })

  test.each(forms)('reads and writes vendor and event of $kind, and omits empty ones', (form) => {
    const begun = withType(EMPTY, forms, form.kind)
    const filled = withEvent(withVendor(begun, form, 'Google Analytics 4'), form, 'page_view')
    expect([vendorOf(filled, form), eventOf(filled, form)]).toEqual(['Google Analytics 4', 'page_view'])
    expect(withEvent(withVendor(filled, form, ''), form, '')).toEqual(begun)
  })

  test('is limited to the selected domains; none means all', () => {
    const many = { ...EMPTY, domainId: 'a', domainIds: ['b', 'a'] }
    expect(domainsOf(many)).toEqual(['a', 'b'])
    expect(domainsOf(withDomain(many, 'c'))).toEqual(['c'])
    expect(domainsOf(withDomain(many, ''))).toEqual([])
    expect(withDomains(many, ['c', 'd'])).toEqual({ ...EMPTY, domainIds: ['c', 'd'] })
  })

  test('drops values for operators without values', () => {
    const compared = { parameter: 'v', op: 'equals' as const, values: ['1'] }
    expect(withOperator(compared, 'contains')).toEqual({ ...compared, op: 'contains' })
    expect(withOperator(compared, 'is_blank')).toEqual({ parameter: 'v', op: 'is_blank' })
  })

  test('uses only the first event filter as the event field, and preserves its index', () => {
    const [event, host] = rule.filters ?? []
    const filters = [host, event, event] as Draft['filters']
    const twice: Draft = { ...rule, filters }
    expect([eventFilterIndex(twice, plain), eventFilterIndex(twice, threshold)]).toEqual([1, -1])
    expect(filtersOf(twice)).toEqual([host, event] as never)
    expect(withEvent(twice, plain, 'refund').filters?.map(({ values }) => values)).toEqual([
      ['shop.example'],
      ['refund'],
      ['Purchase'],
    ])
    expect(withEvent(twice, plain, '').filters).toEqual([host, event] as never)
  })

  test('is sent without its empty rows, unless all rows are empty', () => {
    const sent = toInput({
      ...rule,
      conditions: {
        logic: 'all',
        items: [
          { parameter: '', op: 'is_blank' },
          { parameter: 'v', op: 'is_blank' },
        ],
      },
      conditionGroups: [
        { op: 'any', items: [{ parameter: '', op: 'is_blank' }] },
        {
          op: 'all',
          items: [
            { parameter: '', op: 'equals' },
            { parameter: 'w', op: 'gt', values: ['1'] },
          ],
        },
      ],
      channels: [
        { type: 'email', target: 'owners' },
        { type: 'email', target: '' },
      ],
    })
    expect(sent.conditions?.items).toEqual([{ parameter: 'v', op: 'is_blank' }])
    expect(sent.conditionGroups).toEqual([{ op: 'all', items: [{ parameter: 'w', op: 'gt', values: ['1'] }] }])
    expect(sent.channels).toEqual([{ type: 'email', target: 'owners' }])
    const grouped = toInput({ ...EMPTY, conditionGroups: sent.conditionGroups })
    expect(grouped.conditions).toBeUndefined()
    expect(toInput({ ...EMPTY, filters: [{ parameter: '', op: 'is_blank' }] }).filters).toBeUndefined()
    expect(toInput(EMPTY)).toEqual(EMPTY)
  })

  test.each<[string, Draft, Form, ReturnType<typeof missingOf>]>([
    ['a parameter', EMPTY, plain, { part: 'parameter', n: 1 }],
    [
      'values',
      { ...EMPTY, conditions: { logic: 'any', items: [{ parameter: 'v', op: 'gt' }] } },
      plain,
      { part: 'values', n: 1 },
    ],
    ['nothing', rule, plain, null],
    [
      'the values in a group',
      { ...rule, conditionGroups: [{ op: 'any', items: [{ parameter: 'v', op: 'gt' }] }] },
      plain,
      { part: 'values', n: 1, group: 1 },
    ],
    ['a field of the alert type', withType(EMPTY, forms, 'volume_threshold'), threshold, { title: 'Count' }],
    ['a vendor', withType(EMPTY, forms, 'volume_anomaly'), anomaly, { title: 'Vendor' }],
  ])('reports %s as missing', (_, draft, form, missing) => {
    expect(missingOf(draft, form)).toEqual(missing)
  })

  test('suggests its name from the rule', () => {
    expect(suggestedName(rule, plain, () => 'is blank')).toBe('Meta Pixel Purchase: value is blank')
    expect(suggestedName(EMPTY, plain, () => 'is blank')).toBe('')
    expect(suggestedName(withType(rule, forms, 'volume_anomaly'), anomaly, String)).toBe('Meta Pixel Purchase')
  })

  test('uses the same field paths as errors', () => {
    expect(sharedPaths(rule)).toContain('conditions.items[0].parameter')
    expect(sharedPaths(rule)).toContain('filters[1].op')
    expect(sharedPaths(rule)).toContain('channels[0].target')
  })
})
