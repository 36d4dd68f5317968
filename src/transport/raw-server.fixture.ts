import type { AddressInfo } from 'node:net'
import { createServer as createTcpServer, type Socket } from 'node:net'

/** A server on 127.0.0.1 that calls `answer` when the first bytes of a connection arrive. It stops when disposed. */
export async function rawServer(answer: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => answer(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
