import { describe } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Inputs from public bug reports with their expected values. They belong to other projects and are stored next to this
 * project.
 */
const FOLDER = join(import.meta.dir, '../../../shared/data/reports')

/** Declares the tests of one report. They are reported as skipped when the report's data is missing. */
export const describeReport = describe.skipIf(!existsSync(FOLDER))

/** A vendor's request as contained in the reports. */
export interface ReportedRequest {
  url: string
  method: string
  body?: string
}

/** Returns the path of a report's file. */
export function reportPath(file: string): string {
  return join(FOLDER, file)
}

/** Returns the content of a report's file. */
export function reportText(file: string): string {
  return readFileSync(reportPath(file), 'utf8')
}

/** Returns the values of a report's NDJSON file. */
export function reportLines<T = ReportedRequest>(file: string): T[] {
  return reportText(file)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** Returns the expected values of a report. */
export function expectedOf<T>(file: string): T {
  return JSON.parse(reportText(file))
}
