import { expect, test } from 'bun:test'
import { type ImportRules, readLine } from '../../src/ingest/import-line.ts'
import { describeReport, reportLines } from './bug-report.ts'

describeReport('a BigQuery export', () => {
  test('is imported unchanged', () => {
    const lines = reportLines<{ receivedAt: number }>('16-bigquery.ndjson')
    const domain = { id: 'dom_1', orgId: 'org_1', customerSalt: 'salt', denied: new Set<string>() }
    const rules = { domains: new Map([['dom_1', domain]]), domainId: 'dom_1', from: 0, to: 1_800_000_000_000 }
    const read = lines.map((line, row) => readLine(line, row + 1, rules as unknown as ImportRules))
    expect(read.map(({ error }) => error)).toEqual([null, null, null, null])
    expect(read.map(({ event }) => event?.receivedAt)).toEqual(Array(4).fill(1_795_600_000_000))
    expect(read.map(({ event }) => event?.params)).toEqual([
      { value: '59.9' },
      { value: '59.9', ga_session_id: '17000' },
      { value: '59.9' },
      {},
    ])
    expect(read[3]?.event).toMatchObject({ sessionId: null, path: null })
  })
})
