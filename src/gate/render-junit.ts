import { placeText } from './render-text.ts'
import type { Check, GateFinding, GateReport } from './report.ts'

/** Characters that XML 1.0 does not allow, even when escaped. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove
const NOT_IN_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
  '\r': '&#13;',
  '\t': '&#9;',
}

const escaped = (text: string) =>
  text
    .toWellFormed()
    .replace(NOT_IN_XML, '')
    .replace(/[&<>"\n\r\t]/g, (character) => ESCAPES[character] ?? character)

/**
 * Returns the report as JUnit XML: one test suite, with one test case per check. Follows the schema that Jenkins, GitLab
 * and GitHub's actions read.
 */
export function junitReport({ name, ref, createdAt, checks, findings }: GateReport): string {
  const skipped = checks.filter(({ status }) => status === 'skipped').length
  const failures = checks.filter(({ status }) => status === 'failed').length
  const counts = `tests="${checks.length}" failures="${failures}" errors="0"`
  const suite = escaped(ref === null ? name : `${name} ${ref}`)
  const timestamp = new Date(createdAt).toISOString().slice(0, 19)
  const cases = checks.map((check, index) =>
    testCase(
      check,
      findings.filter((one) => one.check === index),
    ),
  )
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="Tagwarden" ${counts} time="0">`,
    `  <testsuite name="${suite}" ${counts} skipped="${skipped}" time="0" timestamp="${timestamp}" hostname="localhost">`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function testCase({ kind, name, status, reason }: Check, findings: readonly GateFinding[]): string {
  const open = `    <testcase classname="tagwarden.${kind}" name="${escaped(name || kind)}" time="0"`
  if (status === 'skipped') return `${open}>\n      <skipped message="${escaped(reason ?? '')}"/>\n    </testcase>`
  if (status === 'passed') return `${open}/>`
  const [first] = findings
  const message = first ? first.sentence : 'see the other findings'
  const text = findings.flatMap((finding) => [finding.sentence, ...detailsOf(finding), '']).join('\n')
  const failure = `<failure message="${escaped(message)}" type="${first?.kind ?? kind}">${escapedText(text)}</failure>`
  return `${open}>\n      ${failure}\n    </testcase>`
}

/** Like `escaped`, but keeps line breaks. */
const escapedText = (text: string) => text.split('\n').map(escaped).join('\n')

function detailsOf(finding: GateFinding): string[] {
  const { expected, observed } = finding
  return [
    ...(expected === null ? [] : [`expected: ${expected}`]),
    ...(observed === null ? [] : [`observed: ${observed}`]),
    ...(finding.evidence === null ? [] : [`where: ${placeText(finding)}`]),
  ].map((text) => text.replace(/[\r\n]+/g, ' '))
}
