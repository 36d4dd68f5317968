import { COMPLEMENTS, type Condition, fieldReader, targetOf } from '../conditions/condition.ts'
import { conditionText } from '../conditions/condition-text.ts'
import { compileMask, maskPersonal } from '../conditions/mask-personal-data.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import type { Operator } from '../contract/condition-operators.ts'
import { capitalized, cutText } from '../core/text.ts'
import { conditionEventOf, type ExpectedEvent, type MatchedEvent } from './match-expectations.ts'
import type { StepResult } from './run-result.ts'

/** Descriptions of events, steps and data in findings. These descriptions never contain personal data. */

const MAX_VALUE_LENGTH = 60

const quoted = (text: string) => `“${text}”`

/** Returns a name such as `Google Analytics 4 purchase`, or `Hotjar` for an event without a name. */
export function eventName({ vendor, event }: Pick<MatchedEvent, 'vendor' | 'event'>, privacy: Privacy): string {
  const names = [maskPersonal(vendor, '$vendor', privacy), maskPersonal(event, '$event', privacy)]
  return names.filter(Boolean).join(' ')
}

/**
 * Describes an expected event, for example `Google Analytics 4 purchase`, `Hotjar event`, `event with the label
 * “Checkout”`.
 */
export function expectedName({ label, vendor, event, account }: ExpectedEvent): string {
  const what = [vendor, event ?? 'event']
  const labelled = label && `with the label ${quoted(label)}`
  return [...what, labelled, account && `for the account ${account}`].filter(Boolean).join(' ')
}

/** Says how often an expected event fired: `No Hotjar event fired`, `purchase fired once in the run, not 2 times`. */
export function shortfallText(expected: ExpectedEvent & { min: number }, count: number, where = ''): string {
  const name = expectedName(expected)
  const place = where && ` ${where}`
  const isAny = expected.event === undefined
  if (count === 0) return isAny ? `No ${name} fired${place}` : `${name} did not fire${place}`
  return `${isAny ? capitalized(name) : name} fired ${timesText(count)}${place}, not ${timesText(expected.min)}`
}

/** Describes a step by its number, counted from 1, and its title: `step 5, Click “Buy”`. */
export function stepName(step: number, steps: readonly StepResult[], privacy: Privacy): string {
  const title = steps.find(({ index }) => index === step)?.title
  return `step ${step + 1}${title ? `, ${maskPersonal(title, '', privacy)}` : ''}`
}

/** Returns `once`, `2 times` and so on. */
export const timesText = (count: number): string => (count === 1 ? 'once' : `${count} times`)

/** Describes the condition that a correct event meets, for example `` `currency` equal to "EUR" ``. */
export const conditionRequirement = (condition: Condition): string => withoutHad(conditionText(condition))

const withoutHad = (words: string) => words.replace(/^had /, '').replace(/^did not have /, 'not ')

const OPPOSITES = new Map<Operator, Operator>(
  Object.entries(COMPLEMENTS).flatMap(([negative, positive]) => [
    [negative as Operator, positive],
    [positive, negative as Operator],
  ]),
)

/** Describes what is expected instead of a condition that describes a violation, such as ``a value of `currency` ``. */
export function violationRequirement(condition: Condition): string {
  const { parameter, op } = condition
  const name = conditionRequirement({ parameter, op: 'not_blank' })
  if (op === 'is_blank') return `a value of ${name}`
  if (op === 'not_blank') return `no value of ${name}`
  const opposite = OPPOSITES.get(op)
  if (opposite) return conditionRequirement({ ...condition, op: opposite })
  const violation = conditionRequirement(condition)
  return op.startsWith('contains_') || op === 'custom_pii_regex'
    ? `no ${violation.replace(/^an? /, '')}`
    : `not ${violation}`
}

/**
 * Describes how an event violates a condition, in words that can follow `had`: ``no `currency` ``, ``"USD" as
 * `currency` ``.
 */
export function deviationOf(condition: Condition, seen: MatchedEvent, privacy: Privacy): string {
  const target = targetOf(condition)
  const opposite = OPPOSITES.get(condition.op)
  if (target.kind === 'any' || target.kind === 'label') {
    return opposite
      ? conditionRequirement({ ...condition, op: opposite }).replace(/^not the /, 'no ')
      : conditionRequirement(condition).replace(/^an? /, 'no ')
  }
  const value = shownValue(condition, seen, privacy)
  const name = conditionRequirement({ parameter: condition.parameter, op: 'not_blank' })
  return value.trim() === '' ? `no ${name}` : `${JSON.stringify(cutText(value, MAX_VALUE_LENGTH, '…'))} as ${name}`
}

function shownValue(condition: Condition, seen: MatchedEvent, privacy: Privacy): string {
  const shown = compileMask([condition], privacy)(conditionEventOf(seen))
  const target = targetOf(condition)
  if (target.kind === 'key') return Object.hasOwn(shown.params, target.key) ? (shown.params[target.key] ?? '') : ''
  return target.kind === 'field' ? fieldReader(target.field)(shown) : ''
}
