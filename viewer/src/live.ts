// Connection to a live simulation.

import { Frame, type Description } from './data';

/** Settings and speed of the simulation. */
export interface Status {
  playing: boolean;
  speed: number;
  /** Simulated seconds per second that are reached; 0 while paused. */
  rate: number;
  h: number;
  scheme: string;
  schemes: string[];
  stabilized: boolean;
  /** γ, where the scheme has one. */
  gamma: number | null;
  /** Of all shapes; null where they differ. */
  friction: number | null;
  restitution: number | null;
}

export type Command =
  | { command: 'play' | 'pause' | 'step' | 'reset' | 'release' | 'take_back' | 'save' }
  | { command: 'speed'; value: number }
  | { command: 'grab'; body: number; point: number[] }
  | { command: 'move'; target: number[] }
  | { command: 'drop'; shape: 'box' | 'ball'; at: number[]; size: number }
  | { command: 'undo'; time: number }
  | { command: 'friction' | 'restitution' | 'gamma' | 'step_size'; value: number }
  | { command: 'scheme'; name: string }
  | { command: 'stabilize'; on: boolean };

export interface Listener {
  description(description: Description): void;
  frame(frame: Frame): void;
  /** Frames from before the connection. */
  past(frames: Frame[]): void;
  status(status: Status): void;
  /** Error message: a command was refused, or the simulation has stopped. */
  error(words: string, stopped: boolean): void;
  /** A command is on its way. */
  sent(command: Command): void;
  /** Scene file of the current state. */
  scene(text: string): void;
  connected(yes: boolean): void;
}

/** Time before a reconnection [ms]. */
const RECONNECT_DELAY = 1000;

export class Live {
  private socket: WebSocket | null = null;
  private dimension: 2 | 3 = 2;
  /** Frames from before the connection, and how many are still to come. */
  private past: { frames: Frame[]; missing: number } = { frames: [], missing: 0 };

  constructor(private readonly listener: Listener) {
    this.connect();
  }

  private connect(): void {
    const socket = new WebSocket(`ws://${location.host}/live${location.search}`);
    socket.binaryType = 'arraybuffer';
    this.socket = socket;
    socket.onopen = () => this.listener.connected(true);
    socket.onclose = () => {
      this.listener.connected(false);
      setTimeout(() => this.connect(), RECONNECT_DELAY);
    };
    socket.onmessage = ({ data }) => {
      if (data instanceof ArrayBuffer) {
        this.receive(new Frame(data, 0, this.dimension));
        return;
      }
      const message = JSON.parse(data as string) as {
        description?: Description; status?: Status; error?: string; stopped?: boolean; scene?: string; past?: number;
      };
      if (message.past) this.past = { frames: [], missing: message.past };
      if (message.description) {
        this.dimension = message.description.dimension;
        this.listener.description(message.description);
      }
      if (message.status) this.listener.status(message.status);
      if (message.error) this.listener.error(message.error, message.stopped ?? false);
      if (message.scene) this.listener.scene(message.scene);
    };
  }

  private receive(frame: Frame): void {
    const { past } = this;
    if (past.missing === 0) {
      this.listener.frame(frame);
      return;
    }
    past.frames.push(frame);
    past.missing -= 1;
    if (past.missing === 0) this.listener.past(past.frames);
  }

  send(command: Command): void {
    this.listener.sent(command);
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(command));
  }
}
