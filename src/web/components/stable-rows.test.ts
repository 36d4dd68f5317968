import { describe, expect, test } from 'bun:test'
import { mergeStable } from './stable-rows.ts'

// A row is its id and a version: `a1`.
const rows = (text: string) => text.split(' ').filter(Boolean)
const idOf = (row: string) => row.slice(0, 1)

describe('a list under the pointer', () => {
  test.each([
    ['stays the same without changes', 'a1 b1', 'a1 b1', 'a1 b1', 0],
    ['shows new content without moving rows', 'a1 b1', 'b2 a2', 'a2 b2', 0],
    ['counts new rows before its last row', 'a1 b1', 'x1 a1 y1 b1', 'a1 b1', 2],
    ['appends a page after its last row', 'a1 b1', 'a1 b1 c1 d1', 'a1 b1 c1 d1', 0],
    ['removes deleted rows', 'a1 b1 c1', 'a2 c1', 'a2 c1', 0],
    ['removes its last row', 'a1 b1', 'x1 a1', 'a1', 1],
    ['is empty when all rows are deleted', 'a1', '', '', 0],
    ['is replaced when all rows are new', 'a1', 'x1 y1', 'x1 y1', 0],
  ])('%s', (_what, shown, latest, expected, newer) => {
    expect(mergeStable(rows(shown), rows(latest), idOf)).toEqual({ rows: rows(expected), newer })
  })
})
