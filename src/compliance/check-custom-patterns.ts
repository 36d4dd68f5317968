import { MAX_RULE_COST } from '../conditions/condition.ts'
import { compilePattern } from '../conditions/pattern.ts'
import type { CustomPattern } from '../conditions/privacy-settings.ts'
import { AppError, atField } from '../core/error.ts'
import { BUILT_IN_KINDS } from './compliance-finding.ts'

const NAME = /^[a-z0-9_]{1,40}$/

/**
 * Throws `invalid` for the first invalid pattern. A pattern's name must consist of allowed characters, be unique and
 * not be a built-in kind. The pattern must compile and must not match the empty string. The total cost of all patterns
 * must not exceed the maximum cost of one rule's conditions.
 */
export function checkCustomPatterns(patterns: readonly CustomPattern[]): void {
  const names = new Set<string>(BUILT_IN_KINDS)
  let cost = 0
  for (const [index, { name, pattern }] of patterns.entries()) {
    const at = `piiPatterns[${index}]`
    if (!NAME.test(name)) throw new AppError('invalid', `${at}.name: must be 1 to 40 characters from a-z, 0-9 and _`)
    if (BUILT_IN_KINDS.includes(name))
      throw new AppError('invalid', `${at}.name: ${name} is a built-in kind; choose another name`)
    if (names.has(name)) throw new AppError('invalid', `${at}.name: ${name} is used twice`)
    names.add(name)
    const { matches, size } = compiled(pattern, at)
    if (matches(''))
      throw new AppError(
        'invalid',
        `${at}.pattern: matches the empty string, so every value would count as personal data`,
      )
    cost += size
    if (cost <= MAX_RULE_COST) continue
    throw new AppError(
      'invalid',
      `${at}.pattern: the total cost up to this pattern is ${cost}; the maximum is ${MAX_RULE_COST}`,
    )
  }
}

const compiled = (pattern: string, at: string) => atField(`${at}.pattern`, () => compilePattern(pattern))
