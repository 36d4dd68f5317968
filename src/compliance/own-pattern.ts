import { MAX_RULE_COST } from '../conditions/condition.ts'
import { compilePattern } from '../conditions/pattern.ts'
import type { OwnPattern } from '../conditions/privacy.ts'
import { AppError, atField } from '../core/error.ts'
import { OUR_KINDS } from './finding.ts'

const NAME = /^[a-z0-9_]{1,40}$/

/**
 * Fails with `invalid`, naming the first pattern that is none: its name has other characters, is one of ours or is there
 * twice, it does not compile, it matches the empty text and so every value, or all together cost more than the conditions
 * of one rule may.
 */
export function checkOwnPatterns(patterns: readonly OwnPattern[]): void {
  const names = new Set<string>(OUR_KINDS)
  let cost = 0
  for (const [index, { name, pattern }] of patterns.entries()) {
    const at = `piiPatterns[${index}]`
    if (!NAME.test(name)) throw new AppError('invalid', `${at}.name: takes a-z, 0-9 and _`)
    if (OUR_KINDS.includes(name)) throw new AppError('invalid', `${at}.name: ${name} is a kind of ours`)
    if (names.has(name)) throw new AppError('invalid', `${at}.name: ${name} is there twice`)
    names.add(name)
    const { matches, size } = compiled(pattern, at)
    if (matches(''))
      throw new AppError('invalid', `${at}.pattern: matches the empty text, so every value would be personal`)
    cost += size
    if (cost <= MAX_RULE_COST) continue
    throw new AppError(
      'invalid',
      `${at}.pattern: up to here the patterns cost ${cost}, and all may cost ${MAX_RULE_COST}`,
    )
  }
}

const compiled = (pattern: string, at: string) => atField(`${at}.pattern`, () => compilePattern(pattern))
