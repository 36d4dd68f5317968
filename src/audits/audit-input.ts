import { MAX_RULE_COST, RuleCheck } from '../conditions/condition.ts'
import { compilePattern } from '../conditions/pattern.ts'
import type { Instant } from '../core/clock.ts'
import { checkSchedule } from '../core/cron-schedule.ts'
import { AppError, atField } from '../core/error.ts'
import { checkTimezone } from '../core/timezone.ts'
import { checkExpected } from '../flows/match-expectations.ts'
import type { AuditInput, AuditSettings } from './audit.ts'
import { pageAddress } from './crawl/normalize-page-url.ts'

/**
 * Returns the input with defaults filled in. Throws `invalid`, naming the field, when the audit can't be crawled or
 * scheduled. Domains and channels are not checked.
 */
export function readAudit(input: AuditInput, now: Instant): AuditSettings {
  const { startUrls = [], sitemap = null, include = [], exclude = [], expect = [] } = input
  const { schedule = null, timezone = 'UTC' } = input
  if (!input.name.trim()) throw new AppError('invalid', 'name: must not be blank')
  if (startUrls.length === 0 && sitemap === null) {
    throw new AppError('invalid', 'startUrls: a start page or a sitemap is required')
  }
  if (startUrls.length > 0 && sitemap !== null) {
    throw new AppError('invalid', 'sitemap: cannot be combined with startUrls')
  }
  for (const [index, url] of startUrls.entries()) checkAddress(url, `startUrls[${index}]`)
  if (sitemap !== null) checkAddress(sitemap, 'sitemap')
  for (const [field, list] of Object.entries({ include, exclude })) checkPatterns(list, field)
  const check = new RuleCheck(MAX_RULE_COST)
  for (const [index, { path, withinMs: _, ...expected }] of expect.entries()) {
    const at = `expect[${index}]`
    if (path !== undefined) atField(`${at}.path`, () => compilePattern(path))
    checkExpected(expected, at, check)
  }
  checkTimezone(timezone)
  if (schedule !== null) checkSchedule(schedule, timezone, now)
  return {
    name: input.name,
    domainId: input.domainId ?? null,
    startUrls,
    sitemap,
    maxPages: input.maxPages ?? 50,
    maxDepth: input.maxDepth ?? 3,
    include,
    exclude,
    respectRobots: input.respectRobots ?? true,
    delayMs: input.delayMs ?? 500,
    settleMs: input.settleMs ?? 1000,
    expect,
    consent: input.consent ?? { mode: 'none' },
    device: input.device ?? 'desktop',
    vendorRequests: input.vendorRequests ?? 'answer',
    schedule,
    timezone,
    severity: input.severity ?? 'medium',
    channels: input.channels ?? [],
  }
}

function checkAddress(url: string, field: string): void {
  if (pageAddress(url) === null)
    throw new AppError('invalid', `${field}: must be an http or https URL without a user name`)
}

function checkPatterns(patterns: readonly string[], field: string): void {
  for (const [index, pattern] of patterns.entries()) atField(`${field}[${index}]`, () => compilePattern(pattern))
}
