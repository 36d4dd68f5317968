import { isJson } from './json.ts'
import { emptyParams, type Params, readForm, readJsonObject, readQuery } from './params.ts'

/** A request opened for reading. What several routes ask for is worked out once, and only when asked. */
export class VendorRequest {
  readonly host: string
  readonly path: string
  #search: string | undefined
  #query: Params | undefined
  #fields: Params | undefined

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

  /** What was sent, as JSON or as a form, with the query next to it; the body's values win. Throws for broken JSON. */
  get sent(): Record<string, unknown> {
    return isJson(this.body) ? { ...this.query, ...this.json } : this.fields
  }

  /** The body as a JSON object. Throws when it is missing or anything else. */
  get json(): Record<string, unknown> {
    return readJsonObject(this.body)
  }
}
