import { expect, test } from 'bun:test'
import { describeReport, expectedOf, reportLines } from './bug-report.ts'
import { type ExpectedLine, expectDecoded } from './expect-decoded.ts'

describeReport('Matomo under a renamed path', () => {
  test('is recognised in GET, POST and bulk requests', () => {
    const requests = reportLines('11-matomo-renamed-endpoint.ndjson')
    const { lines } = expectedOf<{ lines: ExpectedLine[] }>('11-matomo-renamed-endpoint.expected.json')
    expect(requests).toHaveLength(lines.length)
    for (const [index, line] of lines.entries()) expectDecoded(requests[index] ?? { url: '', method: '' }, line)
  })
})
