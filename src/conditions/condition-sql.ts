import type { Operator } from '../contract/condition-operators.ts'
import { BLANK_PATTERN, NUMBER_PATTERN } from '../core/value-type.ts'
import type { Dialect } from '../warehouse/dialect.ts'
import type { AnyTest, Binder } from '../warehouse/query.ts'
import { COMPLEMENTS, type Condition, conditionsOf, EVENT_FIELDS, type Rule, targetOf } from './condition.ts'
import { BASE64_PATTERNS } from './find-base64-runs.ts'
import { EMAIL_PATTERN, MAY_HOLD_EMAIL_PATTERN, NO_ADDRESS_PATTERN } from './find-email-addresses.ts'
import { isIdentifierKey, isPhoneKey, type PhoneRegions } from './find-phone-numbers.ts'
import { membersIn } from './label-conditions.ts'
import { readNumber } from './parse-number.ts'
import { compilePattern } from './pattern.ts'
import { compileTest } from './predicate.ts'

/** A condition on the relation `events`. It is true or false for every row and never NULL. */
export interface ConditionSql {
  /** A boolean expression in parentheses. Its values are bound in the given binder. */
  sql: string
  /** `keys` and `wholeParams` are for the fields of `Query` with the same names. */
  keys: string[]
  wholeParams: boolean
  /**
   * False when the SQL also matches events for which the rule is not true, so that the predicate must confirm each
   * event.
   */
  exact: boolean
}

/**
 * Matches texts that may contain a phone number; the predicate uses the same check first. An encoded digit (`%35`)
 * counts as two, so no number is missed.
 */
const SEVEN_DIGITS_PATTERN = '(?:[0-9][^0-9]*){7}'
const INTERNATIONAL_PATTERN = '[+%]|00'

/**
 * Maximum length of the SQL tests on any parameter. The tests are repeated for hundreds of columns, and the engine
 * takes seconds to parse longer ones.
 */
const MAX_ANY_LENGTH = 1500

/**
 * Returns whether SQL can evaluate the condition exactly. Conditions on phone numbers are inexact, because SQL engines
 * can't validate phone numbers.
 */
export function isExact(condition: Condition): boolean {
  const target = targetOf(condition)
  const key = target.kind === 'key' ? target.key : target.kind === 'field' ? condition.parameter : null
  return condition.op !== 'contains_phone' || (key !== null && isIdentifierKey(key))
}

const TRUE = '(1 = 1)'
const FALSE = '(1 = 0)'

function join(logic: 'any' | 'all', parts: readonly string[]): string {
  if (parts.length === 0) return logic === 'any' ? FALSE : TRUE
  return parts.length === 1 ? (parts[0] ?? TRUE) : `(${parts.join(logic === 'any' ? ' OR ' : ' AND ')})`
}

/** Like AND, but guarantees that the second part is not evaluated when the first part is false. For expensive tests. */
const inCase = (first: string, second: string) => `CASE WHEN ${first} THEN ${second} ELSE false END`

/** Operators whose tests compare strings. */
const COMPARISONS: readonly Operator[] = ['equals', 'is_blank']

/** Excludes most values by their first character, which is cheaper than a pattern. */
const mayBeBlank = (text: string) => `${text} < '!' OR ${text} > '~'`

/**
 * Returns SQL tests for strings that are not NULL, with the same results as the operators. Each pattern is bound at
 * most once.
 */
export function textTests(binder: Binder): { isBlank(text: string): string; isNumber(text: string): string } {
  const { dialect } = binder
  const boundOnce = (pattern: string) => {
    let bound: string | undefined
    return () => (bound ??= binder.bind(`(${pattern})`))
  }
  const [blank, number] = [boundOnce(BLANK_PATTERN), boundOnce(NUMBER_PATTERN)]
  return {
    isBlank: (text) => `(${inCase(mayBeBlank(text), dialect.matches(text, blank()))})`,
    // Numbers start with a character that sorts before `:`.
    isNumber: (text) => inCase(`${text} < ':'`, dialect.matches(text, number())),
  }
}

class Compiler {
  readonly keys = new Set<string>()
  wholeParams = false

  constructor(
    private readonly binder: Binder,
    private readonly regions: PhoneRegions,
    private readonly anyTests: AnyTest[] | null,
  ) {}

  private get dialect(): Dialect {
    return this.binder.dialect
  }

  result(sql: string, conditions: readonly Condition[]): ConditionSql {
    return { sql, keys: [...this.keys], wholeParams: this.wholeParams, exact: conditions.every(isExact) }
  }

  group(logic: 'any' | 'all', items: readonly Condition[]): string {
    return join(
      logic,
      items.map((condition) => this.condition(condition)),
    )
  }

  private condition(condition: Condition): string {
    const target = targetOf(condition)
    const { op: asked, values = [] } = condition
    const op = COMPLEMENTS[asked] ?? asked
    if (target.kind === 'any' || target.kind === 'label') {
      const positive = target.kind === 'any' ? this.any(op, values) : this.label(condition)
      return op === asked ? positive : `(NOT ${positive})`
    }
    if (target.kind === 'key') {
      this.keys.add(target.key)
      const column = this.dialect.key(target.key)
      return this.orMissing(condition, column, this.test(op, values, column, target.key), COMPARISONS.includes(op))
    }
    const column = this.dialect.field(target.field)
    if (EVENT_FIELDS[target.field] === 'text')
      return this.orMissing(condition, column, this.test(op, values, column, condition.parameter))
    const test =
      op === 'gt' || op === 'lt'
        ? this.compare(op, values, column)
        : this.test(op, values, this.dialect.numberText(column), condition.parameter)
    return this.orMissing(condition, column, test)
  }

  /**
   * Returns the test for label members, grouped by vendor, so that a label with hundreds of members needs only a few
   * lists.
   */
  private label(condition: Condition): string {
    const { dialect, binder } = this
    const among = (field: string, names: readonly string[]) => binder.among(dialect.field(field), names).join('')
    const byVendor = Map.groupBy(membersIn(condition), ({ vendor }) => vendor)
    const names = [...byVendor].map(([vendor, members]) => ({ vendor, events: members.map(({ event }) => event) }))
    const [whole, some] = [
      names.filter(({ events }) => events.includes('')),
      names.filter(({ events }) => !events.includes('')),
    ]
    const tests = [
      among(
        'vendor',
        whole.map(({ vendor }) => vendor),
      ),
      ...some.map(({ vendor, events }) => `(${among('vendor', [vendor])} AND ${among('event', events)})`),
    ]
    return `(${join('any', tests.filter(Boolean))})`
  }

  private any(op: Operator, values: readonly string[]): string {
    const { anyTests } = this
    // Generated only once, because generating a test binds its values.
    const test = this.test(op, values, '{value}', null)
    const length = (anyTests ?? []).reduce((sum, { of }) => sum + of(null).length, test.length)
    if (!anyTests || length > MAX_ANY_LENGTH) {
      this.wholeParams = true
      return `(${this.dialect.anyValue((value) => test.replaceAll('{value}', () => value))})`
    }
    const column = `any${anyTests.length}`
    const isPhone = op === 'contains_phone'
    anyTests.push({ column, of: (key) => (isPhone && key !== null ? this.phoneUnder(key, test) : test) })
    return this.dialect.field(column)
  }

  /** Restricts a test for phone numbers in any parameter to the notations that are recognised under this key. */
  private phoneUnder(key: string, test: string): string {
    if (isIdentifierKey(key)) return FALSE
    if (isPhoneKey(key) || this.regions.length > 0) return test
    return inCase(this.dialect.matches('{value}', `'(${INTERNATIONAL_PATTERN})'`), test)
  }

  /**
   * Adds the result for missing values, which are treated as empty strings and evaluated at compile time. `test` is the
   * test of the positive operator. `isSpared`: skips the test for missing values, for tests that would be equally
   * expensive on them. Functions are faster without it, because the engine computes a function only once per distinct
   * value.
   */
  private orMissing({ op: asked, values = [] }: Condition, column: string, test: string, isSpared = false): string {
    const op = COMPLEMENTS[asked] ?? asked
    const own = op === asked ? test : `(NOT ${test})`
    const passes = compileTest(op, values, [])('', '') === (op === asked)
    // Tests joined by AND allow the engine to skip parts of files by their minimum and maximum values.
    if (!passes) return `(${column} IS NOT NULL AND ${own})`
    return isSpared ? `(CASE WHEN ${column} IS NULL THEN true ELSE ${own} END)` : `(${column} IS NULL OR ${own})`
  }

  private compare(op: 'gt' | 'lt', values: readonly string[], number: string): string {
    const limits = values.map(readNumber).filter((limit) => limit !== null)
    const limit = op === 'gt' ? Math.min(...limits) : Math.max(...limits)
    // Bound as a string, because integers beyond 64 bits can't be bound as numbers.
    const bound = this.dialect.readNumber(this.binder.bind(String(limit)))
    return `(${number} ${op === 'gt' ? '>' : '<'} ${bound})`
  }

  /**
   * Returns the test of a positive operator on a string that is not NULL. `key` is null for a condition on any
   * parameter.
   */
  private test(op: Operator, values: readonly string[], text: string, key: string | null): string {
    const { dialect, binder } = this
    const each = (test: (value: string) => string) => join('any', values.map(test))
    switch (op) {
      case 'equals':
        return values.length === 1
          ? `(${text} = ${binder.bind(values[0] ?? '')})`
          : `(${text} IN (${values.map((value) => binder.bind(value)).join(', ')}))`
      case 'contains':
        return each((value) => dialect.contains(text, binder.bind(value)))
      case 'starts_with':
        return each((value) => dialect.startsWith(text, binder.bind(value)))
      case 'ends_with':
        return each((value) => dialect.endsWith(text, binder.bind(value)))
      case 'is_blank':
        return `(${inCase(mayBeBlank(text), this.matches(text, BLANK_PATTERN))})`
      case 'length_eq':
      case 'length_gt':
      case 'length_lt': {
        const sign = { length_eq: '=', length_gt: '>', length_lt: '<' }[op]
        return each((value) => `(${dialect.codePoints(text)} ${sign} ${binder.bind(Number(value))})`)
      }
      case 'gt':
      case 'lt':
        return `(${inCase(this.compare(op, values, dialect.readNumber(text)), this.matches(text, NUMBER_PATTERN))})`
      case 'regex':
      case 'custom_pii_regex':
        return each((value) => this.pattern(text, value))
      case 'contains_email':
        return this.email(text)
      case 'contains_phone':
        return this.phone(text, key)
      default:
        throw new Error(`${op} is the complement of another operator`)
    }
  }

  private matches(text: string, pattern: string): string {
    return this.dialect.matches(text, this.binder.bind(`(${pattern})`))
  }

  private pattern(text: string, source: string): string {
    const { literal, portable } = compilePattern(source)
    if (!literal) return this.dialect.matches(text, this.binder.bind(portable))
    const part = this.binder.bind(literal.text)
    if (literal.at === 'whole') return `(${text} = ${part})`
    if (literal.at === 'start') return this.dialect.startsWith(text, part)
    return literal.at === 'end' ? this.dialect.endsWith(text, part) : this.dialect.contains(text, part)
  }

  private email(text: string): string {
    const { dialect, binder } = this
    const address = binder.bind(`(${EMAIL_PATTERN})`)
    const other = binder.bind(NO_ADDRESS_PATTERN)
    const runs = BASE64_PATTERNS.map((pattern) => binder.bind(pattern))
    const found = (form: string) => dialect.matches(dialect.replaceAll(form, other, ' '), address)
    const inBase64 = dialect.anyMatch('forms', runs, (run) => found(dialect.base64Decode(run)))
    const once = dialect.percentDecode(text)
    const forms = dialect.joined(' ', [text, once, dialect.percentDecode(once)])
    const test = `(${dialect.mapList(`[${forms}]`, 'forms', `${found('forms')} OR ${inBase64}`)})[1]`
    return `(${inCase(this.matches(text, MAY_HOLD_EMAIL_PATTERN), test)})`
  }

  /** Returns a test that matches every string that may contain a phone number. */
  private phone(text: string, key: string | null): string {
    if (key !== null && isIdentifierKey(key)) return FALSE
    const digits = this.matches(text, SEVEN_DIGITS_PATTERN)
    if (key === null || isPhoneKey(key) || this.regions.length > 0) return digits
    return `(${inCase(this.matches(text, INTERNATIONAL_PATTERN), digits)})`
  }
}

/**
 * Like `compileFilters`, for the relation `events`. Tests on any parameter are added to `anyTests`, which the query
 * must include. Without `anyTests`, and beyond a certain length, these tests search the map of parameters, which is
 * much more expensive.
 */
export function filtersSql(
  filters: readonly Condition[],
  binder: Binder,
  regions: PhoneRegions = [],
  anyTests: AnyTest[] | null = null,
): ConditionSql {
  const compiler = new Compiler(binder, regions, anyTests)
  return compiler.result(compiler.group('all', filters), filters)
}

/**
 * Like `compileViolation`, for the relation `events`. Only the SQL of rules that test for phone numbers is inexact. It
 * matches a superset, because `contains_phone` has no negative operator. `anyTests`: as in `filtersSql`.
 */
export function violationSql(
  rule: Rule,
  binder: Binder,
  regions: PhoneRegions = [],
  anyTests: AnyTest[] | null = null,
): ConditionSql {
  const compiler = new Compiler(binder, regions, anyTests)
  const parts = [
    ...(rule.filters?.length ? [compiler.group('all', rule.filters)] : []),
    ...(rule.conditions ? [compiler.group(rule.conditions.logic, rule.conditions.items)] : []),
    ...(rule.conditionGroups ?? []).map((group) => compiler.group(group.op, group.items)),
  ]
  return compiler.result(join('all', parts), conditionsOf(rule))
}
