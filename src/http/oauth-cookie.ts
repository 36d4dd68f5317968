import { SECOND_MS } from '../core/clock.ts'
import { API_HEADERS } from './headers.ts'

/** A cookie that binds the callback after signing in at another server to the browser that started the sign-in. */
export interface OauthCookie {
  /**
   * Returns the `set-cookie` header. `value` consists of letters, digits, `-` and `_`. An age of 0 deletes the cookie.
   */
  set(publicUrl: string, value: string, ageMs: number): string
  /** Returns the value of the cookie in the request; null without the cookie. */
  read(request: Request): string | null
}

/** @param path path relative to `publicUrl`, which may include a path prefix added by a proxy */
export function oauthCookie(name: string, path: string): OauthCookie {
  const sent = new RegExp(`(?:^|; *)${name}=([\\w-]+)`)
  return {
    set(publicUrl, value, ageMs) {
      const { protocol, pathname } = new URL(publicUrl)
      const whole = `${pathname.replace(/\/+$/, '')}${path}`
      const secure = protocol === 'https:' ? '; Secure' : ''
      return `${name}=${value}; Path=${whole}; Max-Age=${ageMs / SECOND_MS}; HttpOnly; SameSite=Lax${secure}`
    },
    read: (request) => request.headers.get('cookie')?.match(sent)?.[1] ?? null,
  }
}

/** Returns an uncached redirect that sends no referrer, because the current URL may contain a secret code. */
export function redirect(status: 302 | 303, location: string, cookie: string): Response {
  const headers = { ...API_HEADERS, 'referrer-policy': 'no-referrer', location, 'set-cookie': cookie }
  return new Response(null, { status, headers })
}
