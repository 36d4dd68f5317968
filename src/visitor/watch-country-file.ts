import type { Log } from '../base.ts'
import { AppError } from '../core/error.ts'
import { countText } from '../core/text.ts'
import { type CountryLookup, countryFileVersion, openCountryFile } from './country-file.ts'

interface Deps {
  log: Pick<Log, 'info' | 'warn'>
  stopping: AbortSignal
}

/** The operator's country file, which is read again when it is replaced. */
export class CountryFile {
  private lookup: CountryLookup | null = null
  /** The version that was read, or that could not be read. */
  private readVersion: string | null = null
  /** The version at the last check. */
  private seenVersion: string | null = null
  private running: Promise<void> | null = null

  /** @param path a file or a folder; empty for none */
  constructor(
    private readonly path: string,
    private readonly deps: Deps,
  ) {}

  /** Like `CountryLookup.countryOf`. Null as long as no file has been read. */
  countryOf(address: string): string | null {
    return this.lookup?.countryOf(address) ?? null
  }

  /**
   * Reads the file at the first call. After that, reads it when it has changed, once it is the same at two calls, so that
   * a file is not read while it is being copied. A file that can't be read is logged once, and the countries read before
   * remain in use. Rejects only for bugs.
   */
  refresh(): Promise<void> {
    this.running ??= this.check().finally(() => {
      this.running = null
    })
    return this.running
  }

  private async check(): Promise<void> {
    const { log, stopping } = this.deps
    if (this.path === '' || stopping.aborted) return
    const version = this.version()
    const isSettled = this.seenVersion === null || this.seenVersion === version
    this.seenVersion = version
    if (version === this.readVersion || !isSettled) return
    this.readVersion = version
    try {
      const lookup = await openCountryFile(this.path, stopping)
      this.lookup = lookup
      log.info(`countries of IP addresses read from ${this.path}; ranges: ${countText(lookup.ranges)}`)
    } catch (error) {
      if (stopping.aborted) return
      if (!(error instanceof AppError)) throw error
      const effect = this.lookup ? 'the countries read before remain in use' : 'events get no country'
      log.warn(`TAGWARDEN_COUNTRY_FILE: ${error.message}; ${effect}`)
    }
  }

  /** Returns the current version; if it can't be read, the reason. */
  private version(): string {
    try {
      return countryFileVersion(this.path)
    } catch (error) {
      if (error instanceof AppError) return error.message
      throw error
    }
  }
}
