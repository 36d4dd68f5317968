import { describe, expect, test } from 'bun:test'
import { matching } from './palette-actions.ts'

const ITEMS = [
  { name: 'Mute', keywords: 'silence quiet' },
  { name: 'New alert' },
  { name: 'Alerts' },
  { name: 'Weekly report', keywords: 'pdf' },
]

describe('what the palette offers', () => {
  test.each([
    ['', ['Mute', 'New alert', 'Alerts', 'Weekly report']],
    ['al', ['Alerts', 'New alert']],
    ['silence', ['Mute']],
    ['rep week', ['Weekly report']],
    ['lert', []],
    ['  MUTE ', ['Mute']],
  ])('for “%s”', (typed, expected) => {
    expect(matching(ITEMS, typed).map(({ name }) => name)).toEqual(expected)
  })
})
