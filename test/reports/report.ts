import { describe } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Inputs based on public bug reports, with their expected values: data of other projects, stored next to this project.
 */
const FOLDER = join(import.meta.dir, '../../../shared/data/reports')

/** Declares the tests of one report. They are visibly skipped when its data is missing. */
export const describeReport = describe.skipIf(!existsSync(FOLDER))

/** A vendor's request as the reports have it. */
export interface ReportedRequest {
  url: string
  method: string
  body?: string
}

/** The path of a report's file. */
export function reportPath(file: string): string {
  return join(FOLDER, file)
}

/** The text of a report's file. */
export function reportText(file: string): string {
  return readFileSync(reportPath(file), 'utf8')
}

/** The values of a report's NDJSON file. */
export function reportLines<T = ReportedRequest>(file: string): T[] {
  return reportText(file)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** The expected values of a report. */
export function expectedOf<T>(file: string): T {
  return JSON.parse(reportText(file))
}
