import { expect, test } from 'bun:test'
import { clockText, dayText, hourText, momentText, periodText } from './moment-text.ts'

const WINTER = Date.UTC(2026, 10, 27, 19, 33, 59)
const SUMMER = Date.UTC(2026, 6, 1, 22, 5)

test.each<[zone: string, winter: string, summer: string]>([
  ['UTC', '27 Nov 2026, 19:33 UTC', '1 Jul 2026, 22:05 UTC'],
  ['Europe/Berlin', '27 Nov 2026, 20:33 CET', '2 Jul 2026, 00:05 CEST'],
  ['Europe/London', '27 Nov 2026, 19:33 GMT', '1 Jul 2026, 23:05 BST'],
  ['America/New_York', '27 Nov 2026, 14:33 EST', '1 Jul 2026, 18:05 EDT'],
  ['Asia/Tokyo', '28 Nov 2026, 04:33 GMT+9', '2 Jul 2026, 07:05 GMT+9'],
  ['+05:30', '28 Nov 2026, 01:03 GMT+5:30', '2 Jul 2026, 03:35 GMT+5:30'],
])('times in %s name the zone in force at that time', (zone, winter, summer) => {
  expect(momentText(WINTER, zone)).toBe(winter)
  expect(momentText(SUMMER, zone)).toBe(summer)
  expect(`${dayText(WINTER, zone)}, ${clockText(WINTER, zone)}`).toBe(winter)
})

test.each<[from: string, to: string, expected: string]>([
  ['2026-11-27T19:00Z', '2026-11-27T20:30Z', '27 Nov 2026, 20:00 to 21:30 CET'],
  ['2026-11-27T19:00Z', '2026-11-27T23:00Z', '27 Nov 2026, 20:00 to 28 Nov 2026, 00:00 CET'],
  ['2026-10-25T00:30Z', '2026-10-25T01:30Z', '25 Oct 2026, 02:30 CEST to 02:30 CET'],
])('the period from %s to %s', (from, to, expected) => {
  expect(periodText(Date.parse(from), Date.parse(to), 'Europe/Berlin')).toBe(expected)
})

test.each<[zone: string, expected: string]>([
  ['UTC', '19:00 to 20:00 UTC'],
  ['Asia/Kolkata', '00:30 to 01:30 GMT+5:30'],
])('an hour in %s', (zone, expected) => {
  expect(hourText(Date.UTC(2026, 10, 27, 19), zone)).toBe(expected)
})
