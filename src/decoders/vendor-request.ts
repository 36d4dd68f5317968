import { isJson, openedBase64 } from './json.ts'
import { emptyParams, type Params, readForm, readJsonObject, readQuery } from './params.ts'

/**
 * A request that is prepared for decoders. `search`, `query` and the getters below are computed once, on first access;
 * destructuring them counts as access. A route for any path must test the ones that are fast to compute first, because
 * every request of an unknown vendor reaches the route.
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

  /** The query string as sent, including its `?`; empty when there is none. */
  get search(): string {
    this.#search ??= this.url.search
    return this.#search
  }

  get query(): Params {
    this.#query ??= readQuery(this.search)
    return this.#query
  }

  /**
   * The parameters of the query and the form body combined. Those of the body take precedence. For vendors that move a
   * long query into the body.
   */
  get fields(): Params {
    this.#fields ??= this.body ? Object.assign(emptyParams(), this.query, readForm(this.body)) : this.query
    return this.#fields
  }

  /**
   * The parameters of the JSON or form body, combined with those of the query. Those of the body take precedence.
   * Throws for invalid JSON.
   */
  get sent(): Record<string, unknown> {
    return isJson(this.body) ? { ...this.query, ...this.json } : this.fields
  }

  /**
   * The JSON that an SDK sends, in plain text or base64. It is the body, or the field `data` of a form or the query.
   * Empty for other requests, whose body is not parsed as a form.
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

  /** The body as a JSON object. Throws when the body is missing or not a JSON object. */
  get json(): Record<string, unknown> {
    return readJsonObject(this.body)
  }
}
