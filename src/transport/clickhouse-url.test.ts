import { expect, test } from 'bun:test'
import { parseClickhouseUrl } from './clickhouse-url.ts'

test("reads server, sign-in and database, with ClickHouse's defaults", () => {
  expect(parseClickhouseUrl('clickhouse://tag:p%40ss%2Fw@db.example:9000/events')).toEqual({
    url: 'http://db.example:9000',
    user: 'tag',
    password: 'p@ss/w',
    database: 'events',
  })
  const plain = { user: 'default', password: '', database: 'default' }
  expect(parseClickhouseUrl('clickhouse://db.example')).toEqual({ url: 'http://db.example:8123', ...plain })
  expect(parseClickhouseUrl('clickhouses://[::1]/')).toEqual({ url: 'https://[::1]:8443', ...plain })
})

test('says what is wrong without repeating the value', () => {
  const wrong = {
    'http://tag:secret@db.example': 'must be clickhouse://',
    'clickhouse://tag:secret@': 'must be clickhouse://',
    secret: 'must be clickhouse://',
    'clickhouse://tag:secret@db.example/a/b': 'only the database',
    'clickhouse://tag:secret@db.example/a?x=1': 'anything after the database',
    'clickhouse://tag:secret%@db.example/a': 'must have % only',
  }
  for (const [text, message] of Object.entries(wrong)) {
    expect(() => parseClickhouseUrl(text)).toThrow(message)
    expect(() => parseClickhouseUrl(text)).not.toThrow('secret@')
  }
})
