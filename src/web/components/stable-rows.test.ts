import { describe, expect, test } from 'bun:test'
import { mergeStable } from './stable-rows.ts'

// A row is its id and a version: `a1`.
const rows = (text: string) => text.split(' ').filter(Boolean)
const idOf = (row: string) => row.slice(0, 1)

describe('a list under the pointer', () => {
  test.each([
    ['nothing changed', 'a1 b1', 'a1 b1', 'a1 b1', 0],
    ['new content stays in its place', 'a1 b1', 'b2 a2', 'a2 b2', 0],
    ['what came before the last row is counted', 'a1 b1', 'x1 a1 y1 b1', 'a1 b1', 2],
    ['a page behind the last row follows', 'a1 b1', 'a1 b1 c1 d1', 'a1 b1 c1 d1', 0],
    ['what is gone leaves', 'a1 b1 c1', 'a2 c1', 'a2 c1', 0],
    ['the last one gone', 'a1 b1', 'x1 a1', 'a1', 1],
    ['all gone', 'a1', '', '', 0],
    ['all gone, and others there', 'a1', 'x1 y1', 'x1 y1', 0],
  ])('%s', (_what, shown, latest, expected, newer) => {
    expect(mergeStable(rows(shown), rows(latest), idOf)).toEqual({ rows: rows(expected), newer })
  })
})
