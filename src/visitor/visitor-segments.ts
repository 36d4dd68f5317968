import type { VisitorSegments } from '../core/event.ts'
import type { ClientHints } from './client-hints.ts'
import { readLanguage } from './language.ts'
import { readUserAgent } from './user-agent.ts'

/** The optional fields of a batch that describe its visitor. */
export interface DeclaredVisitor {
  userAgent?: string
  clientHints?: object
  language?: string
}

/**
 * Returns the segments of the visitor who sent a batch. The fields of the batch take precedence over the headers of the
 * request, because the sender may be a server. If the batch has a user agent or client hints, the headers of both are
 * ignored. `country`: code of the sender's country; null if unknown.
 */
export function visitorSegments(batch: DeclaredVisitor, headers: Headers, country: string | null): VisitorSegments {
  const { userAgent, clientHints, language } = batch
  const isDeclared = userAgent !== undefined || clientHints !== undefined
  const { browser, browserVersion, os, device } = isDeclared
    ? readUserAgent(userAgent ?? null, (clientHints as ClientHints | undefined) ?? null)
    : readUserAgent(headers.get('user-agent'), hintsIn(headers))
  return {
    browser,
    browserVersion,
    os,
    device,
    language: readLanguage(language) ?? readLanguage(headers.get('accept-language')),
    country,
  }
}

/** Returns the client hints that browsers send without being asked; null if there are none. */
function hintsIn(headers: Headers): ClientHints | null {
  const brands = headers.get('sec-ch-ua')
  if (brands === null) return null
  return {
    'sec-ch-ua': brands,
    'sec-ch-ua-mobile': headers.get('sec-ch-ua-mobile'),
    'sec-ch-ua-platform': headers.get('sec-ch-ua-platform'),
  }
}
