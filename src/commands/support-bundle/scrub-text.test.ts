import { describe, expect, test } from 'bun:test'
import { Scrubber } from './scrub-text.ts'

const scrub = (text: string) =>
  new Scrubber({ privateWords: ['jane', 'acme'], settings: ['TAGWARDEN_SMTP_URL'] }).text(text)

describe('remains', () => {
  test.each([
    'the mail server cannot be reached: ECONNREFUSED; check TAGWARDEN_SMTP_URL',
    'The disk is almost full. The disk of the data folder has 0.9 GiB free (4 %).',
    'the server was already running at 2026-11-28 15:53 UTC',
    '20 s ago; alerts are evaluated up to 2026-11-28T15:53:00.000Z, 1,234 of 99999',
    'Tagwarden 0.1.0, DuckDB v1.5.6',
    "events haven't been moved (SQLITE_IOERR_WRITE)",
    'TypeError: undefined is not an object',
  ])('%s', (text) => {
    expect(scrub(text)).toBe(text)
  })
})

test.each([
  ['a host', 'host hooks.example.com does not resolve', 'host <1> does not resolve'],
  ['an address', 'from 10.1.2.3:80, 10.1.2.3 and ::1', 'from <1>, <2> and <3>'],
  ['an e-mail address', 'to jane.doe+x@example.com.', 'to <1>.'],
  ['a quoted text', 'the alert "no purchase today" failed', 'the alert <1> failed'],
  ['an unfinished quote', 'the alert "no purchase', 'the alert <1>'],
  ['names', 'jane of ACME and Bob', '<1> of <2> and <3>'],
  ['a token', 'key ak_5Lq8Yk2 is revoked', 'key <1> is revoked'],
  ['a URL', 'POST https://example.com/a?b=c: 500', 'POST <1>: 500'],
  ['a path', '/home/jane/data/tagwarden.db is damaged', '<1> is damaged'],
  ['long numbers', 'order 4711481 and +49 151 23456789', 'order <1> and <2> 151 <3>'],
  ['hex', 'value deadbeef42', 'value <1>'],
  ['the same text', 'x.y is not X.Y but x.y', '<1> is not <2> but <1>'],
  ['a frame', '    at async Foo.bar (/home/jane/src/core/clock.ts:12:5)', '    at Foo.bar (clock.ts:12:5)'],
  ['a frame of another program', '    at secret42 (/x/y.ts:1:2)', '    at <1> (<2>)'],
])('%s is replaced', (_, text, expected) => {
  expect(scrub(text)).toBe(expected)
})
