import { createHash } from 'node:crypto'

/** The answer with this text, or 304 when the browser has it; browsers keep it, and ask each time whether it changed. */
export function staticFile(
  text: string,
  type: string,
  headers: Record<string, string>,
): (request: Request) => Response {
  const etag = `"${createHash('sha256').update(text).digest('base64url')}"`
  const all = { ...headers, 'cache-control': 'no-cache', 'content-type': type, etag }
  return (request) =>
    isKnownTo(request, etag) ? new Response(null, { status: 304, headers: all }) : new Response(text, { headers: all })
}

/** True when the caller has the file with this tag already. */
export function isKnownTo({ headers }: Request, etag: string): boolean {
  const known = headers.get('if-none-match')?.split(',') ?? []
  // A proxy that compresses the text marks the tag as weak: https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3
  return known.some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
}
