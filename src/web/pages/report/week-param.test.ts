import { expect, test } from 'bun:test'
import { weekOf } from './week-param.ts'

// https://en.wikipedia.org/wiki/ISO_week_date
test.each([
  ['2026-11-23', '2026-W48'],
  ['2026-11-22', '2026-W47'],
  ['2005-01-01', '2004-W53'],
  ['2005-01-03', '2005-W01'],
  ['2007-12-31', '2008-W01'],
  ['2021-01-03', '2020-W53'],
])('%s is in week %s', (day, week) => expect(weekOf(Date.parse(`${day}T12:00:00Z`))).toBe(week))
