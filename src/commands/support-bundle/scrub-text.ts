import { constants } from 'node:os'

/** Names and abbreviations that the program uses in its messages. */
const TERMS = new Set(
  (
    'Tagwarden Chromium DuckDB SQLite Parquet Bun OpenID Connect Slack Microsoft Teams Jira Google Tag Manager WAL ' +
    'HTTP SMTP DNS NTP TLS URL JSON API UTC GET POST PUT PATCH DELETE HEAD SIGTERM SIGINT SIGHUP SIGKILL TMPDIR ' +
    'MiB GiB MB GB kB WARN WRONG I'
  ).split(' '),
)

/** Tokens that contain no data. */
const HARMLESS = [
  // Words.
  /^[a-z]{1,20}(?:['’-][a-z]{1,20})*$/,
  /^[%=+/|&–—-]+$/,
  // Numbers, percentages, and versions that are not IP addresses.
  /^\d{1,3}(?:,\d{3}|\d{0,2}(?:\.\d{1,3})?)%?$/,
  /^v?\d{1,3}\.\d{1,3}\.\d{1,3}$/,
  // Times.
  /^\d{4}-\d\d-\d\d$/,
  /^\d\d:\d\d(?::\d\d)?$/,
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/,
  // Errors of SQLite and of the runtime.
  /^SQLITE_(?:BUSY|CANTOPEN|CONSTRAINT|CORRUPT|ERROR|FULL|IOERR|LOCKED|NOMEM|NOTADB|PERM|READONLY)(?:_[A-Z]{2,12})?$/,
  /^(?:Abort|App|Folder|List|Range|Reference|Setting|Sqlite|Syntax|Type|Usage)?Error$/,
] as const

/** The first word of a sentence. */
const CAPITALIZED = /^[A-Z][a-z]{1,20}$/

/** Punctuation around a word. Quotes are not included, because they enclose data. */
const TOKEN = /^([[({<]*)(.*?)([\])}>.,:;!?…]*)$/su

/** `at run (/app/src/main.ts:12:5)`. */
const STACK_FRAME =
  /^\s*at (?:(?:async |new )?([A-Za-z.<>]{1,60}) )?\(?\S*?([a-z][a-z-]{0,60}\.[jt]sx?):(\d+):(\d+)\)?$/

/**
 * Replaces everything in a text that could identify someone or contain data. Only what is known to be harmless remains:
 * words in lower case, first words of sentences, small numbers, times, versions, error codes and the program's own
 * terms. Anything else becomes a number in angle brackets, which is the same wherever the same text occurs.
 */
export class Scrubber {
  private readonly pseudonyms = new Map<string, string>()
  private readonly private: ReadonlySet<string>
  private readonly terms: ReadonlySet<string>

  /**
   * @param privateWords words in lower case that are replaced although they look harmless, such as names
   * @param settings names of all settings, which remain
   */
  constructor({ privateWords, settings }: { privateWords: Iterable<string>; settings: Iterable<string> }) {
    this.private = new Set(privateWords)
    this.terms = new Set([...TERMS, ...Object.keys(constants.errno), ...settings])
  }

  text(text: string): string {
    return text
      .split('\n')
      .map((line) => this.line(line))
      .join('\n')
  }

  private line(line: string): string {
    const frame = STACK_FRAME.exec(line)
    if (frame) {
      const [, name = '', file = '', row, column] = frame
      const [shownName, shownFile] = [name, file].map((part) =>
        this.hasPrivateWord(part) ? this.pseudonymOf(part) : part,
      )
      return `    at ${shownName} (${shownFile}:${row}:${column})`
    }
    // A quoted text is one token, whatever it contains.
    const parts = line.split(/("[^"]*"?|'[^' ]*'|`[^`]*`?)/)
    let isFirst = true
    const scrubbed = parts.map((part, index) => {
      if (index % 2 === 1) {
        isFirst = false
        return this.pseudonymOf(part)
      }
      return part.replaceAll(/\S+/g, (token) => {
        const [, before = '', core = '', after = ''] = TOKEN.exec(token) ?? []
        const word = this.word(core, isFirst)
        isFirst = /[.!?:]$/.test(after) || core === ''
        return before + word + after
      })
    })
    return scrubbed.join('')
  }

  private word(core: string, isFirst: boolean): string {
    if (core === '') return core
    const isPrivate = this.hasPrivateWord(core)
    const isHarmless =
      this.terms.has(core) || HARMLESS.some((pattern) => pattern.test(core)) || (isFirst && CAPITALIZED.test(core))
    return isHarmless && !isPrivate ? core : this.pseudonymOf(core)
  }

  private hasPrivateWord(text: string): boolean {
    return text.split(/[.'’-]/).some((part) => this.private.has(part.toLowerCase()))
  }

  /** Returns the number in angle brackets that replaces a text. */
  pseudonymOf(text: string): string {
    const known = this.pseudonyms.get(text)
    if (known !== undefined) return known
    const pseudonym = `<${this.pseudonyms.size + 1}>`
    this.pseudonyms.set(text, pseudonym)
    return pseudonym
  }
}
