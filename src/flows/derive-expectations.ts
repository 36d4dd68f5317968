import type { Condition } from '../conditions/condition.ts'
import { personalIn } from '../conditions/personal.ts'
import type { Privacy } from '../conditions/privacy.ts'
import { typeOfValue } from '../core/value-type.ts'
import { isNameable, isProtocolKey, knowsProtocol, moneyOf, parameterOf } from '../insights/suggestion.ts'
import { isCounter, isRecurring } from './duplicate-events.ts'
import type { Expectation } from './expectation.ts'
import type { RunEvent } from './run.ts'

/** The part of an event that becomes an expectation. */
export type OwnEvent = Pick<RunEvent, 'step' | 'vendor' | 'event' | 'account' | 'params'>

const MAX_EXPECTATIONS = 100
const MAX_CONDITIONS = 5
const MAX_VALUE_LENGTH = 40

/** Replaces secrets. */
const MASKED = '***'
/** Events that the vendors' libraries send on their own: whether they are sent depends on a second more or less. */
const BY_THEMSELVES = /^(?:scroll|user_engagement|session_start|first_visit|microdata|subscribedbuttonclick)$/i

/**
 * Returns expectations that the events meet, as a person would write them: each vendor, event and account once per
 * step, with the meaningful parameters that stay the same from run to run. Of more than 100, those related to money are
 * kept.
 */
export function deriveExpectations(events: readonly OwnEvent[], privacy: Privacy): Expectation[] {
  const isPersonal = (field: string, text: string) =>
    text.includes(MASKED) || personalIn(field, text, privacy).length > 0
  const told = events.filter(
    ({ vendor, event }) =>
      !isRecurring(event) &&
      !BY_THEMSELVES.test(event) &&
      !isPersonal('$vendor', vendor) &&
      !isPersonal('$event', event),
  )
  const groups = Map.groupBy(told, ({ step, vendor, event, account }) => JSON.stringify([step, vendor, event, account]))
  return [...groups.values()]
    .map((group, place) => ({ group, place, money: moneyOf({ event: group[0]?.event ?? '', key: '' }) }))
    .toSorted((a, b) => b.money - a.money || a.place - b.place)
    .slice(0, MAX_EXPECTATIONS)
    .toSorted((a, b) => a.place - b.place)
    .flatMap(({ group }) => {
      const [first] = group
      if (!first) return []
      const { step, vendor, event, account } = first
      const data = dataOf(group, privacy)
      return [
        {
          step,
          vendor,
          ...(event !== '' && { event }),
          ...(account && !isPersonal('$account', account) && { account }),
          ...(data.length > 0 && { data }),
        },
      ]
    })
}

/** Returns conditions that hold for all of the events, most important first. */
function dataOf(events: readonly OwnEvent[], privacy: Privacy): Condition[] {
  const [first] = events
  if (!first) return []
  const { vendor, event } = first
  return Object.keys(first.params)
    .filter((key) => isMeant(vendor, key) && isNameable({ vendor, event, key }))
    .toSorted((a, b) => moneyOf({ event: '', key: b }) - moneyOf({ event: '', key: a }) || (a < b ? -1 : 1))
    .flatMap((key) => conditionOf(key, vendor, events, privacy) ?? [])
    .slice(0, MAX_CONDITIONS)
}

/**
 * Returns whether a parameter was set by the page; for vendors with unknown libraries, whether it is related to money.
 */
function isMeant(vendor: string, key: string): boolean {
  return knowsProtocol(vendor) ? !isProtocolKey({ vendor, key }) : moneyOf({ event: '', key }) > 0
}

/** Keys that identify a person. */
const OF_A_PERSON =
  /mail|phone|tel$|first.?name|last.?name|sur.?name|full.?name|user|client|customer|visitor|session|address|birth|(?:^|[._[])(?:c|u|s)id\b/i
/** Keys whose value differs in each run. */
const OF_ONE_RUN = /(?:id|number|nr|code|token|hash|sku|ref)\]?$/i
/** Keys whose wording depends on the content of the site. */
const OF_CONTENT = /name|title|url|location|referrer|text|term|query|search|description|list|path/i
const WORDS = /^\p{L}[\p{L} _-]*$/u

/**
 * Returns the strongest condition for a parameter: its value when it is a word, that it is a number, or that it is
 * present.
 */
function conditionOf(key: string, vendor: string, events: readonly OwnEvent[], privacy: Privacy): Condition | null {
  const values = events.map(({ params }) => (Object.hasOwn(params, key) ? (params[key] ?? '') : ''))
  const [value = ''] = values
  const isOff = (one: string) =>
    one.trim() === '' || one.includes(MASKED) || isCounter(vendor, key, one) || personalIn(key, one, privacy).length > 0
  if (OF_A_PERSON.test(key) || values.some(isOff)) return null
  const parameter = parameterOf(key)
  if (OF_ONE_RUN.test(key)) return { parameter, op: 'not_blank' }
  if (values.every((one) => typeOfValue(one) === 'number' && Number(one) > 0))
    return { parameter, op: 'gt', values: ['0'] }
  const isWord = value.length <= MAX_VALUE_LENGTH && WORDS.test(value) && values.every((one) => one === value)
  if (isWord && !OF_CONTENT.test(key)) return { parameter, op: 'equals', values: [value] }
  return { parameter, op: 'not_blank' }
}
