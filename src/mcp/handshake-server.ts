import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  CancelledNotificationSchema,
  type Implementation,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { INSTRUCTIONS } from './mcp-instructions.ts'
import type { Methods } from './rpc-methods.ts'

/**
 * Capabilities of the server. Change notifications are not offered, because lists change only with a new version or
 * another role.
 */
export const CAPABILITIES = { tools: {}, resources: {} }

/** The SDK's server requires a validator but only uses it for elicitation, which is not used here. */
const NO_VALIDATOR = {
  getValidator: (): never => {
    throw new Error('elicitation is not supported')
  },
}

/** Creates the SDK's server for one request in a protocol revision with a handshake, that is, up to 2025-11-25. */
export function handshakeServer(identity: Implementation, methods: Methods): Server {
  const server = new Server(identity, {
    capabilities: CAPABILITIES,
    instructions: INSTRUCTIONS,
    jsonSchemaValidator: NO_VALIDATOR,
  })
  server.setRequestHandler(ListToolsRequestSchema, methods.listTools)
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => methods.callTool(params))
  server.setRequestHandler(ListResourcesRequestSchema, methods.listResources)
  server.setRequestHandler(ListResourceTemplatesRequestSchema, methods.listResourceTemplates)
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => methods.readResource(params.uri))
  // Ignored, because a request is finished before a later one could cancel it. A request cancelled by its own batch
  // would otherwise never receive a response.
  server.setNotificationHandler(CancelledNotificationSchema, () => {})
  return server
}
