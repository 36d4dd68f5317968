import { type Alert, type AlertInput, domainsOf } from '../alerts/alert.ts'
import { dataValidation } from '../alerts/types/data-validation/data-validation.ts'
import { alertTypeOf } from '../alerts/types/index.ts'
import { type Condition, conditionsOf, targetOf } from '../conditions/condition.ts'
import type { Severity } from '../contract/severities.ts'
import { countText, cutText } from '../core/text.ts'
import { PAIRING_VENDORS } from './event-pair-queries.ts'
import type { PairedName } from './paired-events.ts'
import { percentOf } from './query-params.ts'

/**
 * Requirements that a rule can set for a key, weakest first: the key is present, is a number, or has one of a few
 * values.
 */
export const SUGGESTION_KINDS = ['required_key', 'key_type', 'key_values'] as const
export type SuggestionKind = (typeof SUGGESTION_KINDS)[number]

/** Facts about one key of one event name and vendor over the examined days. Event counts are weighted. */
export interface KeyFacts {
  domainId: string
  vendor: string
  event: string
  key: string
  /** Number of events with this name, and number of these in which the key is not blank. */
  events: number
  present: number
  /** Number of events in which the key is a number; 0 when it has only a few values. */
  numbers: number
  /** Lowest daily share of events with the key, 0 to 1. Days with few events are ignored. */
  leastDailyShare: number
  /** Distinct values, most frequent first. Incomplete when there are more than `MAX_VALUES`. */
  values: readonly { value: string; events: number }[]
  /** True when all of the vendor's events, regardless of name, have this key with the same value. */
  isConstant: boolean
}

/** Minimum shares of events for a rule about a key: with the key, with a number, and with the rarest value. */
const MIN_PRESENCE = 0.995
const MIN_NUMBERS = 0.999
const MIN_VALUE_SHARE = 0.005
/** Minimum share of events with the key on each day. A key below it is only present from time to time. */
const MIN_DAILY_PRESENCE = 0.9
/** Minimum number of events required for a rule, and for a list of values. */
const MIN_EVENTS = 200
const MIN_EVENTS_FOR_VALUES = 500
export const MAX_VALUES = 20
/** Maximum length of a value in a condition. */
const MAX_VALUE_LENGTH = 1000
const MAX_NAME_LENGTH = 200
const MAX_PER_EVENT = 5
/** An event id rule is suggested below this percentage of events that have a partner with the same event id. */
const MIN_MATCHED_PCT = 85

/**
 * RE2 pattern that matches every string that conditions do not read as a number, including the empty string. A
 * condition can only describe a violation: an invalid character, no digit, a second decimal point, a non-digit in the
 * exponent, or a sign in the wrong position.
 */
export const NOT_NUMBER = String.raw`[^0-9.eE+-]|^[+-]?\.?(?:[eE]|$)|\..*\.|[eE].*[.eE]|[0-9.+-][+-]|[eE][+-]?$`

/** Facts about a key that are known before its values are examined. */
export type Presence = Omit<KeyFacts, 'numbers' | 'values' | 'isConstant'>

/** Returns whether the key is set by the company and present steadily enough for a rule to require it. */
export function isSteady(facts: Presence): boolean {
  const { events, present, leastDailyShare } = facts
  const isThere = present >= events * MIN_PRESENCE && leastDailyShare >= MIN_DAILY_PRESENCE
  return events >= MIN_EVENTS && isThere && !isProtocolKey(facts) && isNameable(facts)
}

/** Returns the strongest requirement that the key meets; null when it meets none or a rule would be useless. */
export function kindOf(facts: KeyFacts): SuggestionKind | null {
  const { events, present, numbers, values, isConstant } = facts
  if (isConstant || isEventName(facts) || !isSteady(facts)) return null
  if (numbers >= present * MIN_NUMBERS) return 'key_type'
  const isFew = values.length <= MAX_VALUES && values.every(({ events }) => events >= present * MIN_VALUE_SHARE)
  const isShort = values.every(({ value }) => value.length <= MAX_VALUE_LENGTH)
  return isFew && isShort && events >= MIN_EVENTS_FOR_VALUES ? 'key_values' : 'required_key'
}

/**
 * Returns whether the key contains the event name, as in some vendors' protocols. A rule about such a key could never
 * be broken.
 */
const isEventName = ({ event, values }: KeyFacts) => values.length > 0 && values.every(({ value }) => value === event)

/**
 * Returns the weighted number of events on these days that would break such a rule; at least 1 when there is such an
 * event.
 */
export function brokenBy(kind: SuggestionKind, { events, present, numbers, values }: KeyFacts): number {
  if (kind === 'required_key') return events - present
  if (kind === 'key_type') return events - numbers
  return events - values.reduce((sum, one) => sum + one.events, 0)
}

/**
 * Returns whether a condition can refer to the key. Conditions limit the length of keys and do not support literal
 * wildcard characters.
 */
export function isNameable({ key, event, vendor }: Pick<Presence, 'key' | 'event' | 'vendor'>): boolean {
  if (key.length === 0 || parameterOf(key).length > 200 || event.length > MAX_VALUE_LENGTH || vendor.length > 200) {
    return false
  }
  const target = targetOf({ parameter: parameterOf(key), op: 'is_blank' })
  return target.kind === 'key' && target.key === key
}

/** Returns the key as written in conditions. */
export const parameterOf = (key: string) => (key.startsWith('$') ? `$${key}` : key)

/**
 * Keys that companies set themselves, for vendors whose library adds further keys to every request. A rule about such
 * further keys would only check the library. For vendors not listed here, only constant keys are excluded. Key names
 * are those of the decoders.
 */
const OWN_KEYS = new Map([
  // https://developers.google.com/analytics/devguides/collection/protocol/ga4/reference: the library sets all other
  // keys.
  ['Google Analytics 4', /^(?!(?:ep|epn|up|upn|pr\d+)\b|cu$|uid$)/],
  // https://developers.facebook.com/docs/meta-pixel/reference: custom data and advanced matching.
  ['Meta Pixel', /^(?!(?:cd|ud|udff|ap)\b)/],
])

/** Returns whether the key is set by the vendor's own library; false for vendors whose library keys are unknown. */
export function isProtocolKey({ vendor, key }: Pick<Presence, 'vendor' | 'key'>): boolean {
  return OWN_KEYS.get(vendor)?.test(key) ?? false
}

/** Returns whether the keys set by this vendor's library are known. */
export const knowsProtocol = (vendor: string) => OWN_KEYS.has(vendor)

/** Names of events and keys related to money, from the most to the least valuable. */
const MONEY_EVENTS = [/purchase|order|transaction|payment|refund|sale/i, /checkout|cart|lead|sign_?up|subscri|book/i]
const MONEY_KEYS = [
  /transaction|order.?id|(?:^|[._[])(?:value|revenue|price|amount|total)\b|currency|(?:^|\.)cu$/i,
  /item|product|sku|coupon|quantity|tax|shipping/i,
]

const rank = (patterns: readonly RegExp[], text: string) => {
  const at = patterns.findIndex((pattern) => pattern.test(text))
  return at < 0 ? 0 : patterns.length - at
}

/** Returns how closely the key is related to money, 0 to 8. The event name has more weight than the key. */
export function moneyOf({ event, key }: Pick<KeyFacts, 'event' | 'key'>): number {
  return rank(MONEY_EVENTS, event) * 3 + rank(MONEY_KEYS, key)
}

/** A rule that the traffic meets, before it is backtested. */
export interface Draft {
  kind: SuggestionKind
  facts: KeyFacts
  rule: AlertInput
  reason: string
}

/**
 * Returns at most five suggestions per event. Those related to money come first, then those with the most events. Rules
 * that an alert already covers are omitted. `days` is the number of examined days, in which one in `oneIn` sessions was
 * examined.
 */
export function suggest(
  facts: readonly KeyFacts[],
  alerts: readonly Alert[],
  { days, oneIn }: { days: number; oneIn: number },
): Draft[] {
  const perEvent = new Map<string, number>()
  return facts
    .flatMap((one) => {
      const kind = kindOf(one)
      return kind === null || alerts.some((alert) => watches(alert, one)) ? [] : [{ kind, facts: one }]
    })
    .toSorted((a, b) => byMoney(a.facts, b.facts))
    .filter(({ facts: { domainId, vendor, event } }) => {
      const name = `${domainId}\0${vendor}\0${event}`
      const count = (perEvent.get(name) ?? 0) + 1
      perEvent.set(name, count)
      return count <= MAX_PER_EVENT
    })
    .map(({ kind, facts }) => ({
      kind,
      facts,
      rule: ruleOf(kind, facts),
      reason: reasonOf(kind, facts, { days, oneIn }),
    }))
}

/** Sorts keys by relation to money, then by number of events, then by name. */
export function byMoney(a: Presence, b: Presence): number {
  if (moneyOf(a) !== moneyOf(b) || a.events !== b.events) return moneyOf(b) - moneyOf(a) || b.events - a.events
  const [ofA, ofB] = [a, b].map(({ domainId, vendor, event, key }) => [domainId, vendor, event, key].join('\0'))
  return (ofA ?? '') < (ofB ?? '') ? -1 : 1
}

/** Returns whether a single-event rule of this alert has a condition on this key of this event. */
function watches(alert: Alert, { domainId, vendor, event, key }: KeyFacts): boolean {
  if (alertTypeOf(alert.alertType).evaluated !== 'on arrival') return false
  const { vendors = [], filters = [] } = alert
  const domains = domainsOf(alert)
  if (domains.length > 0 && !domains.includes(domainId)) return false
  if (vendors.length > 0 && !vendors.includes(vendor)) return false
  if (!filters.every((filter) => admits(filter, event))) return false
  return conditionsOf({ ...alert, filters: [] }).some((condition) => {
    const target = targetOf(condition)
    return target.kind === 'key' && target.key === key
  })
}

/** Returns false only when the filter is about the event name and rejects this event. */
export function admits(filter: Condition, event: string): boolean {
  if (filter.parameter !== '$event') return true
  if (filter.op === 'equals') return (filter.values ?? []).includes(event)
  return filter.op === 'is_blank' ? event === '' : true
}

function ruleOf(kind: SuggestionKind, facts: KeyFacts): AlertInput {
  const { domainId, vendor, event } = facts
  return {
    name: cutText(`${titleOf(facts)} ${DEMANDS[kind]}`, MAX_NAME_LENGTH, '…'),
    domainIds: [domainId],
    alertType: dataValidation.kind,
    severity: severityOf(facts),
    vendors: [vendor],
    filters: [event === '' ? { parameter: '$event', op: 'is_blank' } : equals('$event', event)],
    conditions: { logic: 'any', items: [wrong(kind, facts)] },
    period: '1h',
    channels: [{ type: 'email', target: 'owners' }],
  }
}

const equals = (parameter: string, value: string): Condition => ({ parameter, op: 'equals', values: [value] })

const DEMANDS: Readonly<Record<SuggestionKind, string>> = {
  required_key: 'is present',
  key_type: 'is a number',
  key_values: 'is one of the known values',
}

const titleOf = ({ vendor, event, key }: KeyFacts) => `${[vendor, event].filter(Boolean).join(' ')}: ${key}`

function severityOf(facts: KeyFacts): Severity {
  const money = moneyOf(facts)
  return money >= 7 ? 'high' : money > 0 ? 'medium' : 'low'
}

/** Returns the condition for a violation. A blank key violates a rule of any kind. */
function wrong(kind: SuggestionKind, { key, values }: KeyFacts): Condition {
  const parameter = parameterOf(key)
  if (kind === 'required_key') return { parameter, op: 'is_blank' }
  if (kind === 'key_type') return { parameter, op: 'regex', values: [NOT_NUMBER] }
  return { parameter, op: 'not_equals', values: values.map(({ value }) => value) }
}

function reasonOf(
  kind: SuggestionKind,
  { key, event, vendor, events, present, values }: KeyFacts,
  { days, oneIn }: { days: number; oneIn: number },
): string {
  const named = `${[vendor, event].filter(Boolean).join(' ')} events`
  const time = oneIn > 1 ? `1 in ${countText(oneIn)} sessions of the last ${days} days` : `the last ${days} days`
  const seen = `${countText(Math.round(present))} of ${countText(Math.round(events))} ${named} in ${time} had \`${key}\``
  if (kind === 'required_key') return `${seen}.`
  if (kind === 'key_type') return `${seen}, always a number.`
  const [only, ...others] = values
  return others.length === 0 && only
    ? `${seen}, always \`${only.value}\`.`
    : `${seen}, always one of ${countText(values.length)} values.`
}

/**
 * Returns rules that require an event id, those related to money first. They cover names that browsers and servers each
 * send at least 200 times, when less than 85 % of the events have a partner with the same id. Rules that an alert
 * already covers are omitted.
 */
export function suggestEventIds(names: readonly PairedName[], alerts: readonly Alert[], days: number): Draft[] {
  return names
    .flatMap((name) => {
      const { domainId, vendor, event, matched, browserOnly, serverOnly } = name
      const ids = PAIRING_VENDORS.find((one) => one.vendor === vendor)?.ids ?? []
      const events = 2 * matched + browserOnly + serverOnly
      const share = percentOf(matched, matched + browserOnly + serverOnly)
      const present = events - name.browserWithoutId - name.serverWithoutId
      const facts = ids.map((key) => ({
        domainId,
        vendor,
        event,
        key,
        events,
        present,
        numbers: 0,
        leastDailyShare: 0,
        values: [],
        isConstant: false,
      }))
      const [first] = facts
      const isWatched = alerts.some((alert) => facts.some((one) => watches(alert, one)))
      if (
        !first ||
        event === '' ||
        events < MIN_EVENTS ||
        share >= MIN_MATCHED_PCT ||
        isWatched ||
        !facts.every(isNameable)
      )
        return []
      return [
        {
          kind: 'required_key' as const,
          facts: first,
          rule: eventIdRule(name, ids, first),
          reason: pairsReason(name, share, days),
        },
      ]
    })
    .toSorted((a, b) => byMoney(a.facts, b.facts))
}

/** Returns a rule that an event breaks when it has none of the parameters that may contain its event id. */
function eventIdRule({ event, serverEvent, ...name }: PairedName, ids: readonly string[], facts: KeyFacts): AlertInput {
  return {
    ...ruleOf('required_key', facts),
    name: cutText(`${[name.vendor, event].filter(Boolean).join(' ')}: event id is present`, MAX_NAME_LENGTH, '…'),
    filters: [{ parameter: '$event', op: 'equals', values: [...new Set([event, serverEvent])] }],
    conditions: { logic: 'all', items: ids.map((key) => ({ parameter: parameterOf(key), op: 'is_blank' })) },
  }
}

function pairsReason(name: PairedName, share: number, days: number): string {
  const { vendor, event, matched, browserOnly, serverOnly, browserWithoutId, serverWithoutId } = name
  const named = `${[vendor, event].filter(Boolean).join(' ')} events`
  const all = countText(matched + browserOnly + serverOnly)
  const seen = `${share} % of ${all} ${named} in the last ${days} days had the same event id in the browser and on the server`
  const none = [browserWithoutId, serverWithoutId].map(countText)
  return browserWithoutId + serverWithoutId > 0
    ? `${seen}; ${none[0]} browser and ${none[1]} server events had no event id.`
    : `${seen}; all had an event id.`
}
