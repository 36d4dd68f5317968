import type { CheckAddress } from '../browser/check-browser-url.ts'
import type { Instant } from '../core/clock.ts'
import { checkSchedule } from '../core/cron-schedule.ts'
import { AppError } from '../core/error.ts'
import { checkTimezone } from '../core/timezone.ts'
import type { FlowTest, FlowTestInput } from './flow-test.ts'
import { checkExpectations } from './match-expectations.ts'
import { parseRecording, withStartUrl, withValues } from './recorder-export.ts'
import { checkSecretHosts } from './secret-reach.ts'

/** Settings from a request with defaults filled in, without secrets. */
export type FlowTestSettings = Omit<
  FlowTest,
  'id' | 'orgId' | 'secrets' | 'versionId' | 'version' | 'status' | 'healing' | 'createdAt' | 'updatedAt'
>

/** Values of the fields that a request omits. */
export const FLOW_TEST_DEFAULTS: Omit<FlowTestSettings, 'name' | 'recording' | 'managedBy'> = {
  domainId: null,
  enabled: true,
  startUrl: null,
  expectations: [],
  variables: {},
  secretHosts: [],
  device: 'desktop',
  consent: { mode: 'none' },
  vendorRequests: 'answer',
  schedule: null,
  timezone: 'UTC',
  runOnChange: false,
  retries: 1,
  timeoutS: 120,
  severity: 'medium',
  impactValue: null,
  channels: [],
}

/**
 * Returns the input with defaults filled in. Throws `invalid`, naming the field, when the test can't be executed or
 * scheduled. Domains and channels are not checked.
 */
export function readFlowTest({ secrets = {}, ...input }: FlowTestInput, now: Instant): FlowTestSettings {
  const recording = parseRecording(input.recording, 'recording')
  const settings = { ...FLOW_TEST_DEFAULTS, ...input, recording }
  const { startUrl, expectations, variables, secretHosts, schedule, timezone } = settings
  withStartUrl(recording, startUrl)
  if (!settings.name.trim()) throw new AppError('invalid', 'name: must not be blank')
  checkExpectations(expectations, recording.steps.length)
  checkNames(variables, 'variables')
  checkNames(secrets, 'secrets')
  checkSecretHosts(secretHosts)
  checkTimezone(timezone)
  if (schedule !== null) checkSchedule(schedule, timezone, now)
  return settings
}

/** Throws `invalid`, naming the field, for a URL that a browser may not open. */
export function checkAddresses(
  { recording, startUrl, variables }: Pick<FlowTestSettings, 'recording' | 'startUrl' | 'variables'>,
  check: CheckAddress,
): void {
  for (const [index, { type, url }] of recording.steps.entries()) {
    if (type === 'navigate') check(withValues(String(url), variables), `recording.steps[${index}].url`)
  }
  if (startUrl !== null) check(withValues(startUrl, variables), 'startUrl')
}

const MAX_NAMES = 50
const NAME = /^[\w.-]{1,100}$/

/** Throws `invalid` for too many names, and for names that can't be used as `{{name}}`. */
export function checkNames(values: Readonly<Record<string, unknown>>, field: string): void {
  const names = Object.keys(values)
  if (names.length > MAX_NAMES) throw new AppError('invalid', `${field}: at most ${MAX_NAMES} names are allowed`)
  const odd = names.find((name) => !NAME.test(name))
  if (odd === undefined) return
  throw new AppError('invalid', `${field}: "${odd.slice(0, 100)}" is not a valid name; use letters, digits, _, - and .`)
}
