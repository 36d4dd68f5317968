import { expect, test } from 'bun:test'
import { nextMonday } from './mute-times.ts'

test.each([
  ['from a Saturday', '2026-11-28T07:00:00Z', 'Europe/Berlin', '2026-11-30T08:00:00.000Z'],
  ['from a Monday before nine', '2026-11-30T07:59:00Z', 'Europe/Berlin', '2026-11-30T08:00:00.000Z'],
  ['from a Monday at nine', '2026-11-30T08:00:00Z', 'Europe/Berlin', '2026-12-07T08:00:00.000Z'],
  ['from a day that has already begun there', '2026-11-29T12:00:00Z', 'Pacific/Auckland', '2026-11-29T20:00:00.000Z'],
  ['from a day that has not begun there', '2026-11-30T03:00:00Z', 'America/Los_Angeles', '2026-11-30T17:00:00.000Z'],
  ['across the start of summer time', '2026-03-27T12:00:00Z', 'Europe/Berlin', '2026-03-30T07:00:00.000Z'],
  ['across the end of summer time', '2026-10-23T12:00:00Z', 'Europe/Berlin', '2026-10-26T08:00:00.000Z'],
])('the next Monday at nine %s', (_, now, timeZone, expected) => {
  expect(new Date(nextMonday(Date.parse(now), timeZone)).toISOString()).toBe(expected)
})
