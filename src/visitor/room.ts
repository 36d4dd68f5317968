import type { Base, Room } from '../base.ts'
import { CountryFile } from './watch-country-file.ts'

/** Determines properties of visitors. */
export interface VisitorRoom extends Room {
  countries: Pick<CountryFile, 'countryOf'>
}

export function openVisitor({ config, log, report, stopping }: Base): VisitorRoom {
  const countries = new CountryFile(config.countryFile, { log, stopping })
  // Not awaited, so that a large file does not delay the start.
  const loaded = countries.refresh().catch((error: unknown) => report(error, 'reading the country file'))
  return {
    countries,
    jobs: [{ name: 'read country file', pattern: '0 * * * * *', run: () => countries.refresh() }],
    idle: () => loaded,
    stop: () => countries.refresh(),
  }
}
