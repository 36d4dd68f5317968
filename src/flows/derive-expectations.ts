import type { Condition } from '../conditions/condition.ts'
import { personalIn } from '../conditions/personal-data.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import { typeOfValue } from '../core/value-type.ts'
import { isNameable, isProtocolKey, knowsProtocol, moneyOf, parameterOf } from '../insights/suggest-rules.ts'
import { isCounter, isRecurring } from './duplicate-events.ts'
import type { Expectation } from './expectation.ts'
import type { RunEvent } from './run-result.ts'

/** The fields of an event from which an expectation is derived. */
export type OwnEvent = Pick<RunEvent, 'step' | 'vendor' | 'event' | 'account' | 'params'>

const MAX_EXPECTATIONS = 100
const MAX_CONDITIONS = 5
const MAX_VALUE_LENGTH = 40

/** Replacement for secrets. */
const MASKED = '***'
/** Events that vendors' libraries send automatically. Whether they are sent depends on small timing differences. */
const BY_THEMSELVES = /^(?:scroll|user_engagement|session_start|first_visit|microdata|subscribedbuttonclick)$/i

/** Returns whether events with this name are sent without an action of the page, and therefore irregularly. */
export const isAutomatic = (event: string): boolean => isRecurring(event) || BY_THEMSELVES.test(event)

/**
 * Returns expectations that the events meet. Each combination of vendor, event and account is expected once per step,
 * with those relevant parameters that have the same value in every run. When there are more than 100 expectations,
 * those related to money are kept.
 */
export function deriveExpectations(events: readonly OwnEvent[], privacy: Privacy): Expectation[] {
  const isPersonal = (field: string, text: string) =>
    text.includes(MASKED) || personalIn(field, text, privacy).length > 0
  const told = events.filter(
    ({ vendor, event }) => !isAutomatic(event) && !isPersonal('$vendor', vendor) && !isPersonal('$event', event),
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

/** Returns conditions that all of the events meet, most important first. */
function dataOf(events: readonly OwnEvent[], privacy: Privacy): Condition[] {
  const [first] = events
  if (!first) return []
  const { vendor, event } = first
  return Object.keys(first.params)
    .filter((key) => isPageSpecific(vendor, key) && isNameable({ vendor, event, key }))
    .toSorted((a, b) => moneyOf({ event: '', key: b }) - moneyOf({ event: '', key: a }) || (a < b ? -1 : 1))
    .flatMap((key) => conditionOf(key, vendor, events, privacy) ?? [])
    .slice(0, MAX_CONDITIONS)
}

/**
 * Returns whether the page set a parameter. For vendors whose libraries are unknown, returns whether the parameter is
 * related to money.
 */
export function isPageSpecific(vendor: string, key: string): boolean {
  return knowsProtocol(vendor) ? !isProtocolKey({ vendor, key }) : moneyOf({ event: '', key }) > 0
}

/** Parameter keys that identify a person. */
const OF_A_PERSON =
  /mail|phone|tel$|first.?name|last.?name|sur.?name|full.?name|user|client|customer|visitor|session|address|birth|(?:^|[._[])(?:c|u|s)id\b/i
/** Parameter keys whose value differs in each run. */
const OF_ONE_RUN = /(?:id|number|nr|code|token|hash|sku|ref)\]?$/i
/** Parameter keys whose value depends on the content of the site. */
const OF_CONTENT = /name|title|url|location|referrer|text|term|query|search|description|list|path/i
const WORDS = /^\p{L}[\p{L} _-]*$/u

/**
 * Returns the condition to expect for a parameter: equal to its value if the value is a word, otherwise a positive
 * number, otherwise not blank.
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
