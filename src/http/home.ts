import { Elysia } from 'elysia'
import page from '../web/home.html' with { type: 'text' }
import home from '../web/home.js' with { type: 'text' }
import signIn from '../web/sign-in.js' with { type: 'text' }
import { PAGE_HEADERS } from './headers.ts'
import { staticFile } from './static-file.ts'

const fileOf = (text: string, type: string) => {
  const answer = staticFile(text, `${type}; charset=utf-8`, PAGE_HEADERS)
  return ({ request }: { request: Request }) => answer(request)
}

/** `GET /`: one plain page over `/v1`, with its scripts. */
export function homePage() {
  return new Elysia({ normalize: false })
    .get('/', fileOf(String(page), 'text/html'))
    .get('/home.js', fileOf(home, 'text/javascript'))
    .get('/sign-in.js', fileOf(signIn, 'text/javascript'))
}
