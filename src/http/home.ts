import { Elysia } from 'elysia'
import elements from '../web/elements.js' with { type: 'text' }
import page from '../web/home.html' with { type: 'text' }
import home from '../web/home.js' with { type: 'text' }
import issue from '../web/issue.js' with { type: 'text' }
import signIn from '../web/sign-in.js' with { type: 'text' }
import { PAGE_HEADERS } from './headers.ts'
import { staticFile } from './static-file.ts'

const fileOf = (text: string, type: string) => {
  const answer = staticFile(text, `${type}; charset=utf-8`, PAGE_HEADERS)
  return ({ request }: { request: Request }) => answer(request)
}

/** `GET /`, and `GET /issues/{id}` of every message: one plain page over `/v1`, with its scripts. */
export function homePage() {
  const start = fileOf(String(page), 'text/html')
  const app = new Elysia({ normalize: false }).get('/', start).get('/issues/:id', start)
  const scripts = { '/home.js': home, '/issue.js': issue, '/sign-in.js': signIn, '/elements.js': elements }
  for (const [path, script] of Object.entries(scripts)) app.get(path, fileOf(script, 'text/javascript'))
  return app
}
