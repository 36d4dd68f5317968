import { expect, test } from 'bun:test'
import { parseClickhouseUrl } from './clickhouse-url.ts'

test("reads server, sign-in and database, with ClickHouse's defaults", () => {
  expect(parseClickhouseUrl('clickhouse://tag:p%40ss%2Fw@db.example:9000/events')).toEqual({
    url: 'http://db.example:9000',
    user: 'tag',
    password: 'p@ss/w',
    database: 'events',
    cluster: null,
    replicated: false,
  })
  const plain = { user: 'default', password: '', database: 'default', cluster: null, replicated: false }
  expect(parseClickhouseUrl('clickhouse://db.example')).toEqual({ url: 'http://db.example:8123', ...plain })
  expect(parseClickhouseUrl('clickhouses://[::1]/')).toEqual({ url: 'https://[::1]:8443', ...plain })
})

test('reads the cluster', () => {
  const single = parseClickhouseUrl('clickhouse://tag@db.example/events')
  const cluster = 'my shards'
  expect(parseClickhouseUrl('clickhouse://tag@db.example/events?cluster=my%20shards')).toEqual({ ...single, cluster })
  expect(parseClickhouseUrl('clickhouse://tag@db.example/events?cluster=my+shards&replicated=true')).toEqual({
    ...single,
    cluster,
    replicated: true,
  })
})

test('says what is wrong without repeating the value', () => {
  const wrong = {
    'http://tag:secret@db.example': 'must be clickhouse://',
    'clickhouse://tag:secret@': 'must be clickhouse://',
    secret: 'must be clickhouse://',
    'clickhouse://tag:secret@db.example/a/b': 'only the database',
    'clickhouse://tag:secret@db.example/a#b': 'must not have a #',
    'clickhouse://tag:secret@db.example/a?cluster=b&x=1': 'only cluster and replicated',
    'clickhouse://tag:secret@db.example/a?cluster=': 'a name after cluster=',
    'clickhouse://tag:secret@db.example/a?cluster=b&replicated=yes': 'true or false after replicated=',
    'clickhouse://tag:secret@db.example/a?replicated=true': 'cluster=NAME with replicated=true',
    'clickhouse://tag:secret%@db.example/a': 'must have % only',
  }
  for (const [text, message] of Object.entries(wrong)) {
    expect(() => parseClickhouseUrl(text)).toThrow(message)
    expect(() => parseClickhouseUrl(text)).not.toThrow('secret@')
  }
})
