import { isJson, openedBase64 } from './json.ts'
import { emptyParams, type Params, readForm, readJsonObject, readQuery } from './params.ts'

/**
 * A request opened for reading. `search`, `query` and what follows are computed once, when first read; to destructure them is to
 * read them. A route for any path must test the cheap ones first, because it sees every request of unknown vendors.
 */
export class VendorRequest {
  readonly host: string
  readonly path: string
  #search: string | undefined
  #query: Params | undefined
  #fields: Params | undefined
  #sdkJson: string | undefined

  constructor(
    private readonly url: URL,
    readonly body: string | null,
  ) {
    this.host = url.hostname
    this.path = url.pathname
  }

  /** The query string as it was sent, with its `?`; empty when there is none. */
  get search(): string {
    this.#search ??= this.url.search
    return this.#search
  }

  get query(): Params {
    this.#query ??= readQuery(this.search)
    return this.#query
  }

  /** Query and form body as one; the body's fields win. For vendors that move a long query into the body. */
  get fields(): Params {
    this.#fields ??= this.body ? Object.assign(emptyParams(), this.query, readForm(this.body)) : this.query
    return this.#fields
  }

  /**
   * The sent parameters, from JSON or a form, with those of the query; values of the body take precedence. Throws for
   * invalid JSON.
   */
  get sent(): Record<string, unknown> {
    return isJson(this.body) ? { ...this.query, ...this.json } : this.fields
  }

  /**
   * The JSON that an SDK sends as the body, plain or in base64, or as the field `data` of a form or of the query. Empty for
   * other requests, of which no form is read.
   */
  get sdkJson(): string {
    this.#sdkJson ??= this.readSdkJson()
    return this.#sdkJson
  }

  private readSdkJson(): string {
    const opened = openedBase64(this.body ?? '')
    if (isJson(opened)) return opened
    if (!/(?:^|[?&])data=/.test(this.body || this.search)) return ''
    const data = openedBase64((this.fields.data ?? '').replaceAll(' ', '+'))
    return isJson(data) ? data : ''
  }

  /** The body as a JSON object. Throws when it is missing or anything else. */
  get json(): Record<string, unknown> {
    return readJsonObject(this.body)
  }
}
